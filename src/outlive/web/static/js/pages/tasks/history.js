// The audit trail: who changed what, when and from where. Of all tasks, or of one.
import { html } from "../../html.js";
import { useReloads } from "../../live.js";
import { usePages } from "../../pages.js";
import { moment, plural } from "../../format.js";
import { Ago } from "../../ui/parts.js";
import { Empty, Failed, Loading } from "../../ui/states.js";
import { VirtualList } from "../../ui/virtual.js";

export function History({ workspace, task, link }) {
  const path = task ? `/api/w/${workspace}/tasks/${task}/history` : `/api/w/${workspace}/tasks/history`;
  const found = usePages(path, {}, "changes");
  useReloads(workspace, "tasks", found);
  if (!found.head) return found.error ? html`<${Failed} error=${found.error} retry=${found.reload} />` : html`<${Loading} what="Reading the history" />`;
  if (!found.count) return html`<${Empty} title="Nothing has happened yet" />`;
  return html`<p class="small muted">${plural(found.count, "change")}, the newest first</p>
    <div class=${task ? "" : "card"}>
      <${VirtualList} label="Changes" count=${found.count} estimate=${44} keyOf=${(at) => found.peek(at)?.id ?? `place ${at}`}
        row=${(at) => html`<${Change} change=${found.at(at)} link=${task ? null : link} />`} />
    </div>`;
}

const OPERATIONS = {
  create: "created",
  update: "changed",
  claim: "claimed",
  release: "released",
  heartbeat: "lease extended",
  complete: "completed",
  reopen: "reopened",
  cancel: "cancelled",
  delete: "deleted",
  archive: "archived",
  reclaim: "lease expired",
  supersede: "replaced",
};
const FIELDS = { dependsOn: "depends on", lease: "lease", completedAt: "completed", createdAt: "created" };
const MOMENT = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| UTC|\+00:00)/g;

// Times of the store are in UTC; the page shows local ones.
function told(field, value) {
  const local = value.replace(MOMENT, (text) => moment(Date.parse(text.replace(" UTC", "Z").replace(" ", "T")) / 1000));
  if (field === "dependsOn") return local.replace(/\d+/g, "task $&");
  return field === "status" ? local.replace("_", " ") : local;
}

function Change({ change, link }) {
  if (!change) return html`<div class="task-change muted">…</div>`;
  return html`<div class="task-change">
    <span class="what"><b>${OPERATIONS[change.op] ?? change.op}</b> ${link && html`<a ...${link(change.task)}>task ${change.task}</a>`}</span>
    <span class="fields">
      ${change.fields.map(
        ({ field, old, new: now }) => html`<span class="field-change" key=${field}>${change.op === "create" && field === "subject" ? "" : `${FIELDS[field] ?? field} `}
          ${old && html`<del dir="auto">${told(field, old)}</del> `}${now ? html`<ins dir="auto">${told(field, now)}</ins>` : !old || html`<i>nothing</i>`}</span>`,
      )}
      ${change.note && html`<span class="muted" dir="auto">${change.note}</span>`}
    </span>
    <span class="small muted who" title=${`from ${change.origin}, revision ${change.revision}`}>${change.actor} · <${Ago} at=${change.at} /></span>
  </div>`;
}
