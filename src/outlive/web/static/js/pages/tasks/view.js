// All that is known of one task.
import { html } from "../../html.js";
import { moment, plural } from "../../format.js";
import { Ago } from "../../ui/parts.js";
import { LongText } from "../../ui/excerpt.js";
import { Actions } from "./actions.js";
import { LeaseClock, useSkew } from "./clock.js";
import { History } from "./history.js";
import { Labels, Priority, StateBadge } from "./state.js";

export function TaskView({ workspace, task, control, link }) {
  const skew = useSkew(task.now);
  const path = `/api/w/${workspace}/tasks/${task.id}/text`;
  return html`<div class="stack task-view">
    <h3 class="subject" dir="auto">${task.subject}</h3>
    <div class="row"><${StateBadge} state=${task.state} /><${Priority} value=${task.priority} /><${Labels} labels=${task.labels} /></div>
    ${control && html`<${Actions} workspace=${workspace} task=${task} link=${link} />`}
    ${task.lease && html`<${LeaseFacts} lease=${task.lease} skew=${skew} />`}
    ${!task.lease && task.owner && html`<p class="small">Owner: <b>${task.owner}</b> <span class="muted">(no lease)</span></p>`}
    ${task.description.text && html`<section aria-label="Description"><${LongText} part=${task.description} path=${path} values=${{ field: "description" }} /></section>`}
    <${Unblocks} task=${task} link=${link} />
    <${Relations} title="Depends on" tasks=${task.needs} count=${task.needs_count} link=${link} none="No dependencies." />
    <${Relations} title="Blocks" tasks=${task.blocks} count=${task.blocks_count} link=${link} none="Nothing depends on it." />
    ${task.result.text && html`<section><h3>${task.state === "cancelled" ? "Reason" : "Result"}</h3>
      <${LongText} part=${task.result} path=${path} values=${{ field: "result" }} /></section>`}
    ${task.metadata.text && html`<section><h3>Metadata</h3>
      <${LongText} part=${task.metadata} path=${path} values=${{ field: "metadata" }} mono=${true} /></section>`}
    <section><h3>Times</h3>
      <dl class="facts small">
        <dt>created</dt><dd title=${moment(task.created - skew)}><${Ago} at=${task.created - skew} /></dd>
        <dt>changed</dt><dd><${Ago} at=${task.updated - skew} />, revision ${task.revision}</dd>
        ${task.completed && html`<dt>finished</dt><dd><${Ago} at=${task.completed - skew} /></dd>`}
        ${task.archived && html`<dt>archived</dt><dd><${Ago} at=${task.archived - skew} /></dd>`}
      </dl>
    </section>
    <section><h3>History</h3><${History} workspace=${workspace} task=${task.id} /></section>
  </div>`;
}

const LeaseFacts = ({ lease, skew }) => html`<p class="small task-lease">
  Held by <b>${lease.owner}</b> · <${LeaseClock} expires=${lease.expires} skew=${skew} /> ·
  <span class="muted"> token ${lease.token}, claimed <${Ago} at=${lease.claimed - skew} />
    ${lease.lapsed && ". It goes back when work is next asked for."}
    ${lease.stale && ". It ran out so long ago that the clock is doubted; release it if the clock is right."}</span>
</p>`;

function Unblocks({ task, link }) {
  if (!task.holds_up) return null;
  return html`<p class="small task-unblocks">
    ${task.makes_ready.length
      ? html`Completing it makes ${plural(task.makes_ready.length, "task")} ready
          (${task.makes_ready.slice(0, 20).map((id, at) => html`${at ? ", " : ""}<a ...${link(id)}>${id}</a>`)}${task.makes_ready.length > 20 ? ", …" : ""}).`
      : "Completing it makes nothing ready yet."}
    ${" "}${plural(task.holds_up, "open task")} ${task.holds_up === 1 ? "waits" : "wait"} for it, directly or not.
  </p>`;
}

const Relations = ({ title, tasks, count, link, none }) => html`<section aria-label=${title}>
  <h3>${title} ${count > 0 && html`<span class="muted">${count}</span>`}</h3>
  ${count === 0 && html`<p class="small muted">${none}</p>`}
  <ul class="task-relations">
    ${tasks.map(
      (other) => html`<li key=${other.id} class="row">
        <${StateBadge} state=${other.state} /><span class="mono muted">${other.id}</span>
        ${other.state ? html`<a class="grow clip" ...${link(other.id)} dir="auto">${other.subject}</a>` : html`<span class="muted">${other.subject}</span>`}
      </li>`,
    )}
  </ul>
  ${count > tasks.length && html`<p class="small muted">and ${count - tasks.length} more</p>`}
</section>`;
