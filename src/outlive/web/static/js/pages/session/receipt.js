// The receipt of a pass: tokens by kind before and after, and what the pass did.
import { html } from "../../html.js";
import { percent, plural } from "../../format.js";
import { BANDS } from "./place.js";

const NAMES = { ...BANDS, tools: "Tools", thinking: "Thinking", pictures: "Pictures", system: "System" };

export function Receipt({ data }) {
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
