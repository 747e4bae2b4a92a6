// A pass: its receipt, before and after, what left, and why lines were kept.
import { html, useState } from "../../html.js";
import { post, useData } from "../../api.js";
import { moment, percent, plural } from "../../format.js";
import { Badge, Panel, Tabs } from "../../ui/parts.js";
import { Loaded } from "../../ui/states.js";
import { Compared } from "./compared.js";
import { KeptLines } from "./kept.js";
import { BANDS, usePlace } from "./place.js";

const TABS = { receipt: "Receipt", compared: "Before and after", left: "What left", kept: "Why lines stayed", handles: "Handles" };
const REASONS = {
  pressure: "The window was filling up.",
  cold: "The cache had expired, so a pass cost nearly nothing.",
  limit: "The request did not fit.",
  asked: "It was asked for.",
  refused: "The provider refused the request as too long.",
  arrival: "Something large arrived; it is shown as a preview.",
  summary: "The provider wrote a summary.",
};

export function PassPanel({ event, feed, close }) {
  const { base } = usePlace();
  const [tab, setTab] = useState("receipt");
  const found = useData(`${base}/passes/${event}`);
  const actions = found.data?.newest && html`<${UndoButton} event=${event} done=${found.reload} />`;
  return html`<${Panel} title=${`Pass of event ${event}`} close=${close} actions=${actions} wide=${true}>
    <${Loaded} from=${found} what="Replaying the log up to this pass">
      ${(data) => html`<div class="stack">
        <p class="row">
          ${data.undone && html`<${Badge} tone="warn">taken back</${Badge}>`}
          <b class="number">${data.receipt.before.toLocaleString("en")} → ${data.receipt.after.toLocaleString("en")} tokens</b>
          <span class="mono">${data.receipt.rungs.join(" + ")}</span>
          <span class="muted">${REASONS[data.receipt.reason] ?? data.receipt.reason} ${moment(data.time)}</span>
        </p>
        <${Tabs} names=${TABS} chosen=${tab} choose=${setTab} label="Parts of the pass" />
        <div role="tabpanel" aria-label=${TABS[tab]} class="pass-tab">
          ${tab === "receipt" && html`<${Receipt} data=${data} />`}
          ${tab === "compared" && html`<${Compared} event=${event} />`}
          ${tab === "left" && html`<${Left} data=${data} />`}
          ${tab === "kept" && html`<${KeptLines} event=${event} />`}
          ${tab === "handles" && html`<${Handles} handles=${data.receipt.handles} />`}
        </div>
      </div>`}
    </${Loaded}>
  </${Panel}>`;
}

const NAMES = { ...BANDS, tools: "Tools", thinking: "Thinking", pictures: "Pictures", system: "System" };

function Receipt({ data }) {
  const { receipt } = data;
  const kinds = [...new Set([...Object.keys(receipt.kinds_before), ...Object.keys(receipt.kinds_after)])];
  const most = Math.max(1, ...kinds.flatMap((kind) => [receipt.kinds_before[kind] ?? 0, receipt.kinds_after[kind] ?? 0]));
  return html`<div class="stack">
    <table class="receipt">
      <thead><tr><th>Kind</th><th class="number">Before</th><th class="number">After</th><th><span class="visually-hidden">Sizes</span></th></tr></thead>
      <tbody>
        ${kinds.map((kind) => {
          const [before, after] = [receipt.kinds_before[kind] ?? 0, receipt.kinds_after[kind] ?? 0];
          return html`<tr key=${kind}>
            <td><i class=${`swatch ${kind}`}></i>${NAMES[kind] ?? kind}</td>
            <td class="number">${before.toLocaleString("en")}</td>
            <td class="number">${after.toLocaleString("en")}</td>
            <td class="bars"><i class=${`bar before ${kind}`} style=${{ width: `${(before / most) * 100}%` }}></i><i class=${`bar ${kind}`} style=${{ width: `${(after / most) * 100}%` }}></i></td>
          </tr>`;
        })}
      </tbody>
    </table>
    <dl class="facts">
      <dt>Saved</dt><dd>${percent(receipt.before ? 1 - receipt.after / receipt.before : 0)}</dd>
      <dt>Folded into the digest</dt><dd>${plural(receipt.units_folded, "unit")}</dd>
      <dt>Shrunk in place</dt><dd>${plural(receipt.units_shrunk, "piece")}</dd>
      <dt>Lines kept</dt><dd>${receipt.lines_kept.toLocaleString("en")}</dd>
      <dt>Written to the cache again</dt><dd>${plural(receipt.cache_cost, "token")}</dd>
      <dt>Took</dt><dd>${receipt.seconds.toFixed(2)} s</dd>
      ${data.focus && html`<dt>Focus</dt><dd>${data.focus}</dd>`}
    </dl>
    <p class="small muted">Tokens of a receipt are the session's own estimate. Everything that left can be recalled by its handle.</p>
  </div>`;
}

function Left({ data }) {
  const { openHandle, showEvent } = usePlace();
  if (!data.left.length) return html`<p class="muted">Nothing left the view in this pass.</p>`;
  return html`<div class="scroll-x"><table class="left">
    <thead><tr><th>Event</th><th>What</th><th>How</th><th class="number">Tokens</th><th>Recall</th></tr></thead>
    <tbody>
      ${data.left.map(
        (unit) => html`<tr key=${unit.unit}>
          <td data-name="Event"><button class="handle" onClick=${() => showEvent(unit.unit)}>${unit.unit}</button></td>
          <td class="what" dir="auto">${unit.what}</td>
          <td data-name="How">${unit.how}</td>
          <td class="number" data-name="Tokens">${unit.before.toLocaleString("en")}${unit.after ? ` → ${unit.after.toLocaleString("en")}` : ""}</td>
          <td data-name="Recall">${unit.handles.map((handle) => html`<button class="handle" key=${handle} onClick=${() => openHandle(handle)}>${handle}</button> `)}</td>
        </tr>`,
      )}
    </tbody>
  </table>
  ${data.left_total > data.left.length && html`<p class="muted small">The largest ${data.left.length} of ${data.left_total} are shown.</p>`}</div>`;
}

function Handles({ handles }) {
  const { openHandle } = usePlace();
  return html`<p class="small muted">${plural(handles.length, "handle")} can be seen in the view after this pass. Each gives back the exact bytes.</p>
    <div class="pass-list">${handles.map((handle) => html`<button class="chip mono" key=${handle} onClick=${() => openHandle(handle)}>${handle}</button>`)}</div>`;
}

function UndoButton({ event, done }) {
  const { base, control } = usePlace();
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  if (!control) return null;
  const undo = async () => {
    setBusy(true);
    try {
      await post(`${base}/undo`, { pass: event });
      setError(null);
      done();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return html`${error && html`<span class="notice bad small" role="alert">${error.message} ${error.hint}</span>`}
    <button class="button danger" disabled=${busy} onClick=${undo}>Undo this pass</button>`;
}
