// What left the view in a pass, and by which handles it comes back.
import { html } from "../../html.js";
import { plural } from "../../format.js";
import { usePlace } from "./place.js";

export function Left({ data }) {
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

export function Handles({ handles }) {
  const { openHandle } = usePlace();
  return html`<p class="small muted">${plural(handles.length, "handle")} can be seen in the view after this pass. Each gives back the exact bytes.</p>
    <div class="pass-list">${handles.map((handle) => html`<button class="chip mono" key=${handle} onClick=${() => openHandle(handle)}>${handle}</button>`)}</div>`;
}
