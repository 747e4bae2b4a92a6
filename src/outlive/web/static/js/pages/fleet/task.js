// A task that a worker has: what its agent does, its lease, what it has cost.
import { html, useState } from "../../html.js";
import { post } from "../../api.js";
import { dollars, plural } from "../../format.js";
import { Link } from "../../router.js";
import { Badge } from "../../ui/parts.js";
import { Refusal } from "../../ui/refusal.js";
import { LeaseClock } from "../tasks/clock.js";

export function TaskRow({ workspace, path, task, now, skew, control }) {
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState(null);
  const cancel = async () => {
    setAsking(false);
    await post(`${path}/tasks/${task.id}/cancel`).catch(setError);
  };
  return html`<div class="fleet-row stack">
    <div class="row">
      <span class="grow"><span class="mono muted">#${task.id}</span> <b dir="auto">${task.subject}</b></span>
      <${Badge} tone="accent">${task.phase || "claimed"}</${Badge}>
      ${task.seconds_left !== null && html`<${LeaseClock} expires=${now + task.seconds_left} skew=${skew} />`}
    </div>
    <p class="small muted">${task.worker}${task.machine && ` on ${task.machine.split("/")[0]}`}${task.attempts > 1 ? `, attempt ${task.attempts}` : ""},
      ${" "}${plural(task.requests, "request")}${task.dollars ? `, ${dollars(task.dollars)}` : ""}</p>
    ${task.activity && html`<p class="mono clip" dir="auto">${task.activity}</p>`}
    <div class="row">
      ${task.session && html`<${Link} to=${`/w/${workspace}/sessions/${encodeURIComponent(task.session)}`}>Watch its session</${Link}>`}
      ${control && !asking && html`<button class="button danger small" onClick=${() => setAsking(true)}>Cancel …</button>`}
      ${asking &&
      html`<span class="row" role="group" aria-label="Cancel the task">
        Its agent is stopped; what it did is kept.
        <button class="button danger small" onClick=${cancel}>Cancel task ${task.id}</button>
        <button class="button small" onClick=${() => setAsking(false)}>No</button>
      </span>`}
    </div>
    <${Refusal} error=${error} />
  </div>`;
}
