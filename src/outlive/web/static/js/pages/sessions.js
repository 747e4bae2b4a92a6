// The list of sessions: which work, wait for you, or can be resumed; and search over all of them.
import { html, useEffect, useRef, useState } from "../html.js";
import { plural } from "../format.js";
import { useReloads } from "../live.js";
import { usePages } from "../pages.js";
import { Link, useQuery } from "../router.js";
import { PageHead } from "../ui/parts.js";
import { Empty, Failed, Loading } from "../ui/states.js";
import { VirtualList } from "../ui/virtual.js";
import { SessionRow } from "./sessions/row.js";
import { SearchHits } from "./sessions/search.js";

const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

export function Sessions({ workspace, about }) {
  const [query, setQuery] = useQuery();
  const words = query.q ?? "";
  const list = useRef(null);
  const field = useRef(null);
  const found = usePages(`/api/w/${workspace}/sessions`, { q: words }, "sessions");
  useReloads(workspace, "sessions", found);
  useEffect(() => {
    if (!found.loading && found.head?.incomplete) found.reload(); // the server reads many logs in several steps
  }, [found.loading, found.head]);

  useEffect(() => {
    const keys = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = event.target.closest("input, textarea, select, dialog");
      if (event.key === "/" && !typing) {
        field.current.focus();
      } else if (STEPS[event.key] && (!typing || (event.target === field.current && event.key.startsWith("Arrow")))) {
        step(list.current, STEPS[event.key]);
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);

  return html`<div class="page">
    <${PageHead} title="Sessions">
      <input
        class="field" type="search" placeholder="Search all sessions  /" aria-label="Search sessions" ref=${field}
        value=${words} onInput=${(event) => setQuery({ q: event.target.value }, { replace: true })} />
      ${about?.control && html`<${Link} class="button primary" to=${`/w/${workspace}/talk`}>New session</${Link}>`}
    </${PageHead}>
    <div ref=${list} class="stack">
      <${List} found=${found} workspace=${workspace} words=${words} />
      ${words.trim() && html`<${SearchHits} key=${words} workspace=${workspace} words=${words} />`}
    </div>
  </div>`;
}

function List({ found, workspace, words }) {
  const { head, count, error, at, peek, reload } = found;
  if (!head) return error ? html`<${Failed} error=${error} retry=${reload} />` : html`<${Loading} what="Reading sessions" />`;
  return html`${head.left_out.map((text) => html`<p class="small muted" key=${text}>Left out: ${text}</p>`)}
    ${count > 0
      ? html`<div class="card session-list">
          <${VirtualList}
            count=${count} label="Sessions" estimate=${66}
            keyOf=${(number) => peek(number)?.info.id ?? `row ${number}`}
            row=${(number) => html`<${Group} workspace=${workspace} listed=${at(number)} />`} />
        </div>`
      : html`<${NoSessions} words=${words} />`}`;
}

// Moves the focus to the next or the previous link of the list.
function step(list, by) {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

function Group({ workspace, listed }) {
  const [open, setOpen] = useState(false);
  if (!listed) return html`<div class="session-row muted">…</div>`;
  const { info, subagents, more_subagents: more } = listed;
  return html`<${SessionRow} workspace=${workspace} listed=${listed} />
    ${subagents.length > 0 &&
    html`<div class="subagents">
      <button class="button plain small-button" aria-expanded=${open} onClick=${() => setOpen(!open)}>
        ${open ? "▾" : "▸"} ${plural(subagents.length + more, "sub-agent")}
      </button>
      ${open &&
      html`<div role="list" aria-label=${`Sub-agents of ${info.title || info.id}`}>
        ${subagents.map((one) => html`<div role="listitem" key=${one.info.id}><${SessionRow} workspace=${workspace} listed=${one} /></div>`)}
      </div>`}
    </div>`}`;
}

const NoSessions = ({ words }) =>
  words
    ? html`<p class="muted small">No session has these words in its title, id or folder; what was said in them is searched below.</p>`
    : html`<${Empty} title="No sessions here yet">
        <p>They appear here the moment an agent starts in this workspace.</p>
        <pre>outlive -p "what is this project about?"</pre>
      </${Empty}>`;
