// Two worker processes: started, killed with SIGKILL, and one that comes back too late.
import { html } from "../../../html.js";
import { Badge } from "../../../ui/parts.js";

const NAMES = ["ada", "bob"];

export function Workers({ workers, tasks, now, act, busy }) {
  return html`<section class="card pad stack" aria-label="Workers">
    <h2>Workers</h2>
    ${NAMES.map((name) => {
      const worker = workers.find((one) => one.name === name);
      return html`<${Worker} key=${name} name=${name} worker=${worker} tasks=${tasks} now=${now} act=${act} busy=${busy} />`;
    })}
  </section>`;
}

function Worker({ name, worker, tasks, now, act, busy }) {
  const lease = tasks.find((task) => task.lease?.owner === name)?.lease;
  const left = lease ? Math.max(0, Math.ceil(lease.expires - now)) : null;
  const button = (op, words, kind = "") =>
    html`<button class="button ${kind}" disabled=${busy} onClick=${() => act(op, { worker: name })}>${words}</button>`;
  return html`<div class="row learn-worker">
    <b>${name}</b>
    <span class="small grow">
      ${worker
        ? worker.alive
          ? html`<${Badge} tone="good" pulse=${true}>process ${worker.pid}</${Badge}> task ${worker.task}`
          : html`<${Badge}>ended</${Badge}>`
        : html`<span class="muted">not started</span>`}
      ${left !== null && html` <span class="learn-lease-clock">lease ${lease.token}: ${left} s left</span>`}
    </span>
    ${worker?.alive
      ? html`${button("kill", `Kill ${name}`, "danger")} ${button("finish", `Let ${name} finish`)}`
      : button("start", `Start ${name}`)}
    ${worker && !worker.alive && name === "ada" && button("late", "Late ada completes")}
  </div>`;
}
