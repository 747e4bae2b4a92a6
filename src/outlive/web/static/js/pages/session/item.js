// One item of the conversation.
import { html } from "../../html.js";
import { moment, plural } from "../../format.js";
import { Link } from "../../router.js";
import { Details } from "../../ui/details.js";
import { Badge } from "../../ui/parts.js";
import { Call } from "./call.js";
import { ForkButton } from "./fork.js";
import { PassCard } from "./pass-card.js";
import { Picture } from "./picture.js";
import { usePlace } from "./place.js";
import { Subagent } from "./subagent.js";
import { LongText } from "./text.js";

const ORIGINS = {
  harness: "from the harness",
  hook: "from a hook",
  memory: "memories",
  stdin: "piped in",
  parent: "from the parent agent",
};
const LINES = {
  note: "Note",
  mode: "Permission mode",
  permission: "Permission",
  goal: "Goal",
  plan: "Plan",
  queued: "Queued",
  directive: "Standing instruction",
  directive_dropped: "Instruction withdrawn",
  renewed: "New sprint",
  unknown: "Written by a newer outlive",
};

export function Item({ item, chosen }) {
  const { control } = usePlace();
  const classes = ["item", item.kind, item.undone ? "undone" : "", chosen ? "chosen" : ""].join(" ");
  return html`<article class=${classes} data-event=${item.id} tabindex="-1">
    ${item.undone && html`<p class="taken-back"><${Badge} tone="warn" title="Taken back: the log keeps it, the model does not see it">taken back</${Badge}></p>`}
    <${Body} item=${item} />
    <footer class="item-foot">
      ${control && html`<${ForkButton} at=${item.id} label="Fork here" sign=${true} />`}
      <${EventLink} id=${item.id} time=${item.time} />
    </footer>
  </article>`;
}

function EventLink({ id, time }) {
  const { workspace, session } = usePlace();
  const to = `/w/${workspace}/sessions/${encodeURIComponent(session)}?event=${id}`;
  return html`<${Link} to=${to} class="event-link" title=${moment(time)} aria-label=${`Event ${id}, ${moment(time)}`}>${id}</${Link}>`;
}

function Body({ item }) {
  switch (item.kind) {
    case "user":
    case "assistant":
      return html`${item.parts.map((part) => html`<${Part} key=${part.block} part=${part} item=${item} />`)}
        ${item.more_parts > 0 && html`<p class="muted small">and ${plural(item.more_parts, "more part")}</p>`}`;
    case "pass":
      return html`<${PassCard} item=${item} />`;
    case "state":
      return html`<${Folded} title=${item.facts.whole ? "State block" : "State block: what changed"} item=${item} />`;
    case "started":
      return html`<${Folded} title=${started(item.facts)} item=${item} />`;
    case "system":
      return html`<${Folded} title=${item.facts.waits ? "New system prompt, used from the next pass on" : "New system prompt"} item=${item} />`;
    case "subagent":
      return html`<${Subagent} session=${item.facts.session} description=${item.facts.description} />`;
    case "forked":
      return html`<p class="line">Forked from ${item.facts.session} at event ${item.facts.at}. What came before is shared.</p>`;
    case "undone":
      return html`<p class="line">
        ${item.facts.what === "pass" ? `Took back the pass of event ${item.facts.target}` : `Took back everything after event ${item.facts.target}`}
      </p>`;
    case "unqueued":
      return html`<p class="line">Queued words were taken back</p>`;
    default:
      return html`<div class="line"><b>${LINES[item.kind] ?? item.kind}</b> ${item.text && html`<${LongText} text=${item.text} event=${item.id} />`}</div>`;
  }
}

const started = ({ model, folder, tools }) =>
  ["Session started", model, tools ? plural(tools, "tool") : "", folder].filter(Boolean).join(" · ");

function Part({ part, item }) {
  const text = html`<${LongText} text=${part.text} event=${item.id} block=${part.block} as=${item.kind === "user" ? "words" : "markdown"} />`;
  if (part.kind === "call") return html`<${Call} call=${part.call} event=${item.id} block=${part.block} />`;
  if (part.kind === "thinking") return part.text.size ? html`<${Details} title="Thinking">${() => text}</${Details}>` : null;
  if (part.kind === "picture") return html`<${Picture} event=${item.id} block=${part.block} />`;
  if (part.kind === "other") return html`<p class="muted small">${part.text?.text ?? "a block that only its provider reads"}</p>`;
  if (item.kind === "user" && part.origin !== "user") {
    return html`<${Details} title=${`${ORIGINS[part.origin] ?? part.origin}, ${plural(part.text.size, "character")}`}>${() => text}</${Details}>`;
  }
  return text;
}

const Folded = ({ title, item }) =>
  item.text ? html`<${Details} title=${title}>${() => html`<${LongText} text=${item.text} event=${item.id} />`}</${Details}>` : html`<p class="line">${title}</p>`;
