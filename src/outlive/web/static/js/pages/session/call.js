// A tool call with its result: one line, and all of it when it is opened.
import { html } from "../../html.js";
import { Details } from "../../ui/details.js";
import { Badge } from "../../ui/parts.js";
import { Picture } from "./picture.js";
import { usePlace } from "./place.js";
import { Subagent } from "./subagent.js";
import { LongText } from "./text.js";

const STATUS = {
  waiting: ["…", "muted", "waits to start or to be allowed"],
  running: ["●", "accent", "running"],
  done: ["✓", "good", "done"],
  failed: ["✗", "bad", "failed"],
  denied: ["⊘", "warn", "not allowed"],
  interrupted: ["■", "warn", "interrupted"],
};

const OPEN = ["waiting", "running"];

export function Call({ call, event, block }) {
  const { event: wanted, dead } = usePlace();
  const status = dead && OPEN.includes(call.status) ? "interrupted" : call.status; // nobody is there to go on with it
  const [sign, tone, meaning] = STATUS[status];
  const { result } = call;
  const title = html`<span class=${`call-sign ${tone}`} title=${meaning} role="img" aria-label=${meaning}>${sign}</span>
    <b class="mono">${call.name}</b> <span class="clip grow mono">${call.label}</span>
    <span class="call-facts muted small">${facts(call)}</span>`;
  return html`<${Details} title=${title} class="call" open=${Boolean(result) && result.event === wanted}>
    ${() => html`
      ${call.diff?.length ? html`<${Diff} lines=${call.diff} cut=${call.diff_cut} />` : null}
      ${call.diff?.length
        ? html`<${Details} title="Input">${() => html`<${LongText} text=${call.input} event=${event} block=${block} />`}</${Details}>`
        : html`<div class="call-input"><${LongText} text=${call.input} event=${event} block=${block} /></div>`}
      ${result?.denied_by && html`<${Denied} result=${result} />`}
      ${result && html`<div class="call-result"><${LongText} text=${result.text} event=${result.event} /></div>`}
      ${result?.pictures > 0 &&
      Array.from({ length: result.pictures }, (_, at) => html`<${Picture} key=${at} event=${result.event} block=${0} number=${at} />`)}
      ${call.subagent && html`<${Subagent} session=${call.subagent} />`}
    `}
  </${Details}>`;
}

function facts({ diff, added = 0, removed = 0, result, status }) {
  return [
    diff?.length && `+${added}${removed ? ` −${removed}` : ""}`,
    result?.exit_code ? `exit ${result.exit_code}` : "",
    result?.seconds >= 1 ? `${result.seconds.toFixed(1)} s` : "",
    status === "denied" ? "not allowed" : "",
    !diff?.length && result ? `${result.text.size.toLocaleString("en")} chars` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

const SIGNS = { "+": "added", "-": "removed" };

export const Diff = ({ lines, cut = 0 }) => html`<div class="diff" role="group" aria-label="Changes" tabindex="0">
  ${lines.map((line, at) => html`<div key=${at} class=${SIGNS[line[0]] ?? ""}>${line || " "}</div>`)}
  ${cut > 0 && html`<div class="muted">… ${cut.toLocaleString("en")} more lines, in the input below</div>`}
</div>`;

const DENIED = {
  user: "You answered no.",
  unasked: "Nobody was there to be asked.",
  rule: "A deny rule forbids it.",
  mode: "The permission mode does not allow it.",
  hook: "A hook refused it.",
  fence: "It reaches outside of the workspace.",
};

const Denied = ({ result }) => html`<p class="notice warn small">
  <${Badge} tone="warn">not run</${Badge}> ${DENIED[result.denied_by] ?? result.denied_by}
  ${result.rules?.length > 0 && html` It would be allowed by: ${result.rules.map((rule) => html`<code key=${rule}>${rule}</code> `)}`}
</p>`;
