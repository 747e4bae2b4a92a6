// All tasks in a virtual table: sorted and filtered by the server, loaded as far as one scrolls.
import { html } from "../../html.js";
import { useReloads } from "../../live.js";
import { usePages } from "../../pages.js";
import { plural } from "../../format.js";
import { Ago } from "../../ui/parts.js";
import { Failed, Loading } from "../../ui/states.js";
import { VirtualList } from "../../ui/virtual.js";
import { LeaseClock, useSkew } from "./clock.js";
import { Filters } from "./filters.js";
import { LeftOut, NoTasks } from "./notes.js";
import { Labels, Priority, StateBadge } from "./state.js";

const COLUMNS = [
  ["status", "State"],
  ["id", "Task"],
  ["priority", "Priority"],
  ["", "Owner"],
  ["updated", "Changed"],
];
const FILTERS = ["state", "label", "owner", "text", "archived"];

export function Table({ workspace, values, change, link, selected }) {
  const asked = Object.fromEntries(FILTERS.map((name) => [name, values[name]]));
  const sort = values.sort || "priority";
  const found = usePages(
    `/api/w/${workspace}/tasks`, { ...asked, sort, descending: values.descending }, "tasks",
  );
  useReloads(workspace, "tasks", found);
  const skew = useSkew(found.head?.now);
  if (!found.head) return found.error ? html`<${Failed} error=${found.error} retry=${found.reload} />` : html`<${Loading} what="Reading tasks" />`;
  const filtered = FILTERS.some((name) => values[name]);
  return html`
    <${Filters} values=${values} change=${change} facets=${found.head.facets} states=${true} />
    <${LeftOut} texts=${found.head.left_out} />
    <p class="small muted" role="status">${plural(found.count, "task")}${filtered ? " match" : ""}</p>
    ${found.count === 0
      ? html`<${NoTasks} filtered=${filtered} />`
      : html`<div class="card task-table" onKeyDown=${step}>
          <${Head} sort=${sort} descending=${values.descending === "1"} change=${change} />
          <${VirtualList} label="Tasks" count=${found.count} estimate=${48}
            keyOf=${(at) => found.peek(at)?.id ?? `place ${at}`}
            row=${(at) => html`<${Row} task=${found.at(at)} skew=${skew} link=${link} selected=${selected} />`} />
        </div>`}`;
}

function Head({ sort, descending, change }) {
  const choose = (key) => change({ sort: key, descending: key === sort && !descending ? "1" : "" });
  return html`<div class="task-row task-head">
    ${COLUMNS.map(([key, name]) =>
      key
        ? html`<button key=${name} class="sort" aria-pressed=${key === sort} onClick=${() => choose(key)}>
            ${name}<span aria-hidden="true">${key === sort ? (descending ? " ↓" : " ↑") : ""}</span>
            <span class="visually-hidden">${key === sort ? (descending ? ", descending" : ", ascending") : ", sort"}</span>
          </button>`
        : html`<span key=${name}>${name}</span>`,
    )}
  </div>`;
}

function Row({ task, skew, link, selected }) {
  if (!task) return html`<div class="task-row muted">…</div>`;
  return html`<a class="task-row" ...${link(task.id)} aria-current=${selected === task.id ? "true" : undefined}>
    <span><${StateBadge} state=${task.state} /></span>
    <span class="subject"><span class="mono muted">${task.id}</span> <span dir="auto">${task.subject}</span>
      <span class="labels"><${Labels} labels=${task.labels} />
        ${task.waits_for.length > 0 && html`<span class="muted small">waits for ${task.waits_for.join(", ")}</span>`}
        ${task.archived && html`<span class="muted small">archived</span>`}</span></span>
    <span class="priority"><${Priority} value=${task.priority} /></span>
    <span class="owner"><span class="clip">${task.owner}</span>
      ${task.expires && html` <${LeaseClock} expires=${task.expires} skew=${skew} />`}</span>
    <span class="small muted changed"><${Ago} at=${task.updated - skew} /></span>
  </a>`;
}

// Arrow keys go from row to row.
function step(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const here = event.target.closest?.("[data-at]");
  if (!by || !here) return;
  const next = event.currentTarget.querySelector(`[data-at="${Number(here.dataset.at) + by}"] a`);
  if (next) {
    event.preventDefault();
    next.focus();
  }
}
