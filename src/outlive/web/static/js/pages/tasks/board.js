// Four columns: ready, in progress, blocked, done.
import { html, useState } from "../../html.js";
import { withQuery } from "../../api.js";
import { useLive } from "../../live.js";
import { plural } from "../../format.js";
import { Ago } from "../../ui/parts.js";
import { Loaded } from "../../ui/states.js";
import { LeaseClock, useSkew } from "./clock.js";
import { Filters } from "./filters.js";
import { LeftOut, NoTasks } from "./notes.js";
import { Labels, Priority, STATES } from "./state.js";

const COLUMNS = { ready: "Ready", in_progress: "In progress", blocked: "Blocked", done: "Done" };
const STEP = 30;

export function Board({ workspace, values, change, link, selected }) {
  const [limit, setLimit] = useState(STEP);
  const { label, owner, text } = values;
  const found = useLive(workspace, "tasks", withQuery(`/api/w/${workspace}/tasks/board`, { label, owner, text, limit }));
  const skew = useSkew(found.data?.now);
  const [last, setLast] = useState(null);
  if (found.data && found.data !== last) setLast(found.data); // the old board stays while another filter is asked for
  const shown = found.data ?? last;
  return html`<${Filters} values=${values} change=${change} facets=${shown?.facets} />
    <${Loaded} from=${{ ...found, data: shown }} what="Reading tasks">
      ${(board) => html`<${LeftOut} texts=${board.left_out} />
        ${Object.values(board.columns).some((column) => column.total)
          ? html`<div class="task-board">
              ${Object.entries(COLUMNS).map(
                ([name, title]) => html`<${Column} key=${name} title=${title} column=${board.columns[name]} skew=${skew}
                  link=${link} selected=${selected} more=${() => setLimit(limit + 4 * STEP)} />`,
              )}
            </div>`
          : html`<${NoTasks} filtered=${Boolean(label || owner || text)} />`}`}
    </${Loaded}>`;
}

const Column = ({ title, column, skew, link, selected, more }) => html`<section aria-label=${title}>
  <h2>${title} <span class="muted">${column.total.toLocaleString("en")}</span></h2>
  <ul>
    ${column.tasks.map((task) => html`<li key=${task.id}><${Card} task=${task} skew=${skew} link=${link} selected=${selected} /></li>`)}
  </ul>
  ${column.total === 0 && html`<p class="small muted">nothing</p>`}
  ${column.total > column.tasks.length &&
  html`<button class="button" onClick=${more}>Show more (${plural(column.total - column.tasks.length, "task")})</button>`}
</section>`;

function Card({ task, skew, link, selected }) {
  const finished = task.state === "completed" || task.state === "cancelled";
  return html`<a class="card task-card" ...${link(task.id)} aria-current=${selected === task.id ? "true" : undefined}>
    <span class="row small"><span class="mono muted">${task.id}</span><${Priority} value=${task.priority} />
      ${finished && html`<span class="muted">${STATES[task.state].name} <${Ago} at=${task.updated - skew} /></span>`}
      ${task.owner && html`<span class="clip">${task.owner}</span>`}
      ${task.expires && html`<${LeaseClock} expires=${task.expires} skew=${skew} />`}</span>
    <span class="subject" dir="auto">${task.subject}</span>
    ${(task.labels.length > 0 || task.waits_for.length > 0) &&
    html`<span class="labels"><${Labels} labels=${task.labels} />
      ${task.waits_for.length > 0 && html`<span class="small muted">waits for ${task.waits_for.join(", ")}</span>`}</span>`}
  </a>`;
}
