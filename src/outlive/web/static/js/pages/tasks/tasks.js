// Tasks: the graph, a board, a table, the history, and one task beside them.
import { html, useState } from "../../html.js";
import { useQuery, useSelection } from "../../router.js";
import { useMedia } from "../../ui/media.js";
import { PageHead } from "../../ui/parts.js";
import { Tabs } from "../../ui/tabs.js";
import { Board } from "./board.js";
import { Editor } from "./editor.js";
import { Graph } from "./graph/graph.js";
import { History } from "./history.js";
import { TaskPanel } from "./panel.js";
import { Table } from "./table.js";

const NARROW = "(max-width: 600px)";
const VIEWS = { graph: "Graph", board: "Board", table: "Table", history: "History" };
const SHOWN = { graph: Graph, board: Board, table: Table, history: History };

export function Tasks({ workspace, about }) {
  const [values, go] = useQuery();
  const change = (changes) => go(changes, { replace: true });
  const [creating, setCreating] = useState(false);
  const usual = useMedia(NARROW) ? "table" : "graph"; // a graph needs room
  const view = VIEWS[values.view] ? values.view : usual;
  const selected = /^\d+$/.test(values.task ?? "") ? Number(values.task) : null;
  const { open, close, link } = useSelection("task", selected, go);
  const View = SHOWN[view];
  return html`<div class="page tasks-page ${selected === null ? "" : "with-panel"}">
    <${PageHead} title="Tasks">
      ${about.control
        ? html`<button class="button primary" onClick=${() => setCreating(true)}>New task</button>`
        : html`<span class="small muted read-only">Read only. Start with <code>outlive web --control</code> to change tasks here.</span>`}
    </${PageHead}>
    <${Tabs} names=${VIEWS} chosen=${view} choose=${(key) => go({ view: key === usual ? "" : key })} label="Views" />
    <div class="tasks-split">
      <div class="tasks-view stack" key=${view}>
        <${View} workspace=${workspace} values=${values} change=${change} link=${link} open=${open} selected=${selected} />
      </div>
      ${selected !== null &&
      html`<${TaskPanel} key="panel" workspace=${workspace} id=${selected} control=${about.control} close=${close} link=${link} />`}
    </div>
    ${creating &&
    html`<${Editor} workspace=${workspace} close=${() => setCreating(false)} saved=${(task) => {
      setCreating(false);
      open(task.id);
    }} />`}
  </div>`;
}
