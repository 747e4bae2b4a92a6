// All that is known of one memory.
import { html } from "../../html.js";
import { moment } from "../../format.js";
import { Link } from "../../router.js";
import { Ago, Badge } from "../../ui/parts.js";
import { LongText } from "../../ui/excerpt.js";
import { Actions } from "./actions.js";
import { Log } from "./log.js";
import { MemoryLinks, StateBadge, TYPES } from "./row.js";

const SPEAKERS = {
  user: "You said it.",
  tool: "The output of a tool said it.",
  web: "A web page said it.",
  model: "A model concluded it; these are not your words.",
};

export function MemoryView({ workspace, path, memory, control, link }) {
  const { row } = memory;
  return html`<div class="stack task-view">
    <h3 class="subject" dir="auto">${row.name}</h3>
    <div class="row"><${Badge} title=${TYPES[row.type]}>${row.type}</${Badge}>
      <${Badge}>${row.scope === "user" ? "yours everywhere" : "of this project"}</${Badge}><${StateBadge} row=${row} /></div>
    ${row.blocked && html`<p class="small held-back">Not shown to a model: ${row.blocked}.</p>`}
    ${control && html`<${Actions} path=${path} memory=${memory} />`}
    ${memory.description !== row.name && html`<p class="muted" dir="auto">${memory.description}</p>`}
    ${memory.body.text && html`<section aria-label="Text"><${LongText} part=${memory.body} path=${`${path}/text`} /></section>`}
    ${row.keys.length > 0 && html`<p class="labels">${row.keys.map((key) => html`<span class="task-label" key=${key} dir="auto">${key}</span>`)}</p>`}
    <${Source} workspace=${workspace} source=${memory.source} />
    ${memory.replaced_by && html`<${MemoryLinks} title="Replaced by" rows=${[memory.replaced_by]} link=${link} />`}
    <${MemoryLinks} title="Replaces" rows=${memory.replaced} link=${link} />
    <${MemoryLinks} title="Made from" rows=${memory.made_from} link=${link} />
    <${MemoryLinks} title="Used for" rows=${memory.used_for} link=${link} />
    ${memory.lost.length > 0 && html`<p class="small muted">It names memories that are not there: ${memory.lost.join(", ")}</p>`}
    <section><h3>Times</h3>
      <dl class="facts small">
        ${memory.date && html`<dt>about</dt><dd>${memory.date}</dd>`}
        <dt>created</dt><dd title=${moment(memory.created)}><${Ago} at=${memory.created} /></dd>
        <dt>changed</dt><dd><${Ago} at=${memory.changed} />, revision ${memory.revision}</dd>
      </dl></section>
    <section><h3>Log</h3><${Log} workspace=${workspace} values=${{ scope: row.scope, slug: row.slug }} control=${control} link=${link} of=${true} /></section>
  </div>`;
}

function Source({ workspace, source }) {
  const place = source.event ? `session ${source.session}, event ${source.event}` : `session ${source.session}`;
  const event = source.event ? `?event=${source.event}` : "";
  return html`<section aria-label="Where it came from"><h3>Where it came from</h3>
    <p class="small">
      ${source.untrusted ? "It came with the folder; nobody here vouches for what it says of itself. " : ""}${SPEAKERS[source.who]}
      ${source.confirmed && !source.untrusted && source.who !== "user" ? " You agreed to it." : ""}
    </p>
    ${source.session &&
    html`<p class="small">${source.session_known
      ? html`<${Link} to=${`/w/${workspace}/sessions/${encodeURIComponent(source.session)}${event}`}>Go to the message</${Link}> <span class="muted">${place}</span>`
      : html`<span class="muted">${place}, which is not in this workspace</span>`}</p>`}
  </section>`;
}
