// The sessions of all workspaces, the newest first.
import { html, useEffect } from "../html.js";
import { usePages } from "../pages.js";
import { useQuery } from "../router.js";
import { PageHead } from "../ui/parts.js";
import { Empty, Failed, Loading } from "../ui/states.js";
import { VirtualList } from "../ui/virtual.js";
import { SessionRow } from "./sessions/row.js";

const LOOK = 5000; // milliseconds between two looks; to follow every workspace would keep all of them open

export function Everywhere() {
  const [query, setQuery] = useQuery();
  const words = query.q ?? "";
  const found = usePages("/api/sessions", { q: words }, "sessions");
  useEffect(() => {
    const timer = setInterval(() => document.hidden || found.loading || found.reload(), found.head?.incomplete ? LOOK / 10 : LOOK);
    return () => clearInterval(timer);
  });
  return html`<div class="page">
    <${PageHead} title="All workspaces">
      <input class="field" type="search" placeholder="Find by title, goal, id or folder" aria-label="Find sessions"
        value=${words} onInput=${(event) => setQuery({ q: event.target.value }, { replace: true })} />
    </${PageHead}>
    <${List} found=${found} />
  </div>`;
}

function List({ found: { head, count, error, at, peek, reload } }) {
  if (!head) return error ? html`<${Failed} error=${error} retry=${reload} />` : html`<${Loading} what="Reading sessions" />`;
  return html`${head.left_out.map((text) => html`<p class="small muted" key=${text}>Left out: ${text}</p>`)}
    ${count
      ? html`<div class="card session-list">
          <${VirtualList} count=${count} label="Sessions" estimate=${66} keyOf=${(number) => keyOf(peek(number), number)}
            row=${(number) => html`<${Row} found=${at(number)} />`} />
        </div>`
      : html`<${Empty} title="No session found"><p>Sessions of every workspace that you have worked in are listed here.</p></${Empty}>`}`;
}

const keyOf = (found, number) => (found ? `${found.workspace} ${found.listed.info.id}` : `row ${number}`);

const Row = ({ found }) =>
  found
    ? html`<${SessionRow} workspace=${found.workspace} listed=${found.listed} place=${found.name} />`
    : html`<div class="session-row muted">…</div>`;
