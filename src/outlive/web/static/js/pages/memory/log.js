// Every change of memories, the newest first; each can be looked at and, with control, taken back.
import { html, useState } from "../../html.js";
import { get, post } from "../../api.js";
import { useReloads } from "../../live.js";
import { usePages } from "../../pages.js";
import { plural } from "../../format.js";
import { Ago, Badge } from "../../ui/parts.js";
import { Refusal } from "../../ui/refusal.js";
import { Empty, Failed, Loading } from "../../ui/states.js";
import { VirtualList } from "../../ui/virtual.js";

// With `of`, the log of one memory.
export function Log({ workspace, values, control, link, of = false }) {
  const { scope, slug } = of ? values : {};
  const found = usePages(`/api/w/${workspace}/memory/log`, { scope, slug }, "steps");
  useReloads(workspace, "memories", found);
  if (!found.head) return found.error ? html`<${Failed} error=${found.error} retry=${found.reload} />` : html`<${Loading} what="Reading the log" />`;
  if (!found.count) return of ? html`<p class="small muted">Nothing was written down about it here.</p>` : html`<${Empty} title="Nothing was changed yet" />`;
  return html`${!of && html`<p class="small muted" role="status">${plural(found.count, "step")}, the newest first</p>`}
    <div class=${of ? "" : "card"}>
      <${VirtualList} label="Steps" count=${found.count} estimate=${50} keyOf=${(at) => found.peek(at)?.id ?? `place ${at}`}
        row=${(at) => (found.at(at) ? html`<${Step} workspace=${workspace} step=${found.at(at)} control=${control} link=${of ? null : link} />` : html`<div class="memory-step muted">…</div>`)} />
    </div>`;
}

function Step({ workspace, step, control, link }) {
  const [diff, setDiff] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const path = `/api/w/${workspace}/memory`;
  const look = () => (diff ? setDiff(null) : get(`${path}/log/${encodeURIComponent(step.id)}`).then(setDiff, setError));
  const undo = async () => {
    setBusy(true);
    setError(null);
    await post(`${path}/undo`, { step: step.id }).catch(setError);
    setBusy(false);
  };
  return html`<div class="memory-step ${step.undone ? "undone" : ""}">
    <div class="row">
      <span class="grow"><span class="mono muted">${step.id}</span> <b>${OPERATIONS[step.op] ?? step.op}</b>${step.undoes ? ` of step ${step.undoes}` : ""}
        ${" "}${step.touched.map((one, at) => html`${at ? ", " : ""}${link ? html`<a ...${link(step.scope, one.slug)} dir="auto">${one.name}</a>` : html`<span dir="auto">${one.name}</span>`}`)}
        ${step.count > step.touched.length && ` and ${step.count - step.touched.length} more`}
        ${step.note && html`<span class="muted" dir="auto"> (${step.note})</span>`}</span>
      ${step.undone && html`<${Badge} tone="warn">undone</${Badge}>`}
      <span class="small muted">${step.actor ? `${step.actor} · ` : ""}<${Ago} at=${step.at} /></span>
      ${step.count > 0 && html`<button class="button small" aria-expanded=${Boolean(diff)} onClick=${look}>Changes<span class="visually-hidden"> of step ${step.id}</span></button>`}
      ${control && step.count > 0 && !step.undone && html`<button class="button small" disabled=${busy} onClick=${undo}>Undo<span class="visually-hidden"> step ${step.id}</span></button>`}
    </div>
    <${Refusal} error=${error} />
    ${diff && html`<${Diff} diff=${diff} />`}
  </div>`;
}

const OPERATIONS = { add: "added", supersede: "replaced", merge: "merged", forget: "forgotten", update: "changed", undo: "undo" };
const KINDS = { "+": "added", "-": "removed", "@": "place" };

const Diff = ({ diff }) => html`<pre class="memory-diff" tabindex="0" aria-label="Changes">${diff.lines.filter((text) => !/^(---|\+\+\+) /.test(text)).map(
  (text, at) => html`<span key=${at} class=${KINDS[text[0]] ?? ""}>${text}${"\n"}</span>`,
)}${diff.left_out > 0 && html`<span class="muted">${diff.left_out} more lines or memories are not shown</span>`}</pre>`;
