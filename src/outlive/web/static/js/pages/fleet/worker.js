// One worker: where it runs, how busy it is, whether it is still there.
import { html, useState } from "../../html.js";
import { post } from "../../api.js";
import { Badge } from "../../ui/parts.js";
import { Refusal } from "../../ui/refusal.js";

export function WorkerRow({ path, worker, control }) {
  const [error, setError] = useState(null);
  const drain = () => post(`${path}/workers/${encodeURIComponent(worker.name)}/drain`).catch(setError);
  const state = !worker.alive ? "gone" : worker.draining ? "draining" : worker.busy ? "working" : "idle";
  return html`<div class="fleet-row row">
    <b dir="auto">${worker.name}</b>
    <span class="muted grow" dir="auto">${worker.machine.split("/")[0]}</span>
    <span class="number">${worker.busy} of ${worker.slots} slots</span>
    <${Badge} tone=${state === "gone" ? "bad" : state === "working" ? "accent" : ""}>${state}</${Badge}>
    ${control && worker.alive && !worker.draining && html`<button class="button small" onClick=${drain}>Drain</button>`}
    <${Refusal} error=${error} />
  </div>`;
}
