// What the workers do: questions for a person, tasks in work with their lease clocks, workers, queue, money.
import { html } from "../../html.js";
import { dollars, plural } from "../../format.js";
import { useLive, useReloads } from "../../live.js";
import { PageHead } from "../../ui/parts.js";
import { Empty, Loaded } from "../../ui/states.js";
import { Question } from "./question.js";
import { TaskRow } from "./task.js";
import { WorkerRow } from "./worker.js";
import { useSkew } from "../tasks/clock.js";

export function Fleet({ workspace, about }) {
  const found = useLive(workspace, "tasks", `/api/w/${workspace}/fleet`);
  useReloads(workspace, "fleet", found);
  return html`<div class="page">
    <${PageHead} title="Fleet" about="Workers take ready tasks, each in a worktree and a session of its own." />
    <${Loaded} from=${found} what="Looking at the fleet">
      ${({ now, fleet }) => html`<${Parts} workspace=${workspace} control=${about.control} now=${now} fleet=${fleet} />`}
    </${Loaded}>
  </div>`;
}

function Parts({ workspace, control, now, fleet }) {
  const skew = useSkew(now);
  const path = `/api/w/${workspace}/fleet`;
  if (!fleet.workers.length && !fleet.waiting.length && !fleet.working.length) {
    return html`<${Empty} title="No worker is running">
        <p>${queue(fleet)} Start a worker in this project:</p>
        <pre>outlive work --slots 2</pre>
      </${Empty}>`;
  }
  return html`<div class="stack fleet">
    <${Part} title="Waiting for you" rows=${fleet.waiting} row=${(one) => html`<${Question} key=${one.id} path=${path} question=${one} control=${control} />`} />
    <${Part} title="In work" rows=${fleet.working} row=${(one) => html`<${TaskRow} key=${one.id} workspace=${workspace} path=${path} task=${one} now=${now} skew=${skew} control=${control} />`} />
    <${Part} title="Workers" rows=${fleet.workers} row=${(one) => html`<${WorkerRow} key=${one.name} path=${path} worker=${one} control=${control} />`} />
    <section class="card pad" aria-label="Queue and money">
      <p>${queue(fleet)}</p>
      ${fleet.expired.length > 0 && html`<p class="fleet-warning">${fleet.expired.map((id) => `#${id}`).join(", ")}: the lease has run out; the next worker takes over.</p>`}
      ${fleet.spending.total > 0 && html`<p>${dollars(fleet.spending.last_hour)} in the last hour, ${dollars(fleet.spending.today)} today, ${dollars(fleet.spending.total)} in all</p>`}
      ${Object.entries(fleet.spending.budgets).map(([name, most]) => html`<p class="small muted" key=${name}>budget ${name}: ${dollars(most)}</p>`)}
      ${Object.entries(fleet.slowed).map(([name, seconds]) => html`<p class="fleet-warning" key=${name}>${name} asked to slow down: a request every ${seconds.toFixed(1)} s</p>`)}
    </section>
  </div>`;
}

const Part = ({ title, rows, row }) =>
  rows.length > 0 &&
  html`<section aria-label=${title}>
    <h2>${title}</h2>
    <div class="card">${rows.map(row)}</div>
  </section>`;

const queue = ({ ready, blocked }) => `${plural(ready, "task")} ready, ${blocked} blocked.`;
