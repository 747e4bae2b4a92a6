// The list of sessions: which work, wait for you, or can be resumed; and search over all of them.
import { html, useEffect, useRef, useState } from "../html.js";
import { useChanges, useData, withQuery } from "../api.js";
import { plural } from "../format.js";
import { Link, useQuery } from "../router.js";
import { PageHead } from "../ui/parts.js";
import { Empty, Loaded } from "../ui/states.js";
import { SessionRow } from "./sessions/row.js";
import { SearchHits } from "./sessions/search.js";

const PAGE = 50;
const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

export function Sessions({ workspace, about }) {
  const [query, setQuery] = useQuery();
  const words = query.q ?? "";
  const [limit, setLimit] = useState(PAGE);
  const list = useRef(null);
  const field = useRef(null);
  const found = useData(withQuery(`/api/w/${workspace}/sessions`, { q: words, limit }));
  useChanges(workspace, "sessions", found.reload);

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
      <${Loaded} from=${found} what="Reading sessions">
        ${({ sessions, total, left_out: leftOut }) => html`
          ${leftOut.map((text) => html`<p class="small muted" key=${text}>Left out: ${text}</p>`)}
          ${sessions.length > 0
            ? html`<div class="card session-list" role="list" aria-label="Sessions">
                ${sessions.map((listed) => html`<${Group} key=${listed.info.id} workspace=${workspace} listed=${listed} />`)}
              </div>`
            : html`<${NoSessions} words=${words} />`}
          ${total > sessions.length &&
          html`<button class="button" onClick=${() => setLimit(limit + PAGE)}>Show more (${plural(total - sessions.length, "older session")})</button>`}
        `}
      </${Loaded}>
      ${words.trim() && html`<${SearchHits} key=${words} workspace=${workspace} words=${words} />`}
    </div>
  </div>`;
}

// Moves the focus to the next or the previous link of the list.
function step(list, by) {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

function Group({ workspace, listed: { info, subagents, more_subagents: more } }) {
  const [open, setOpen] = useState(false);
  return html`<${SessionRow} workspace=${workspace} info=${info} />
    ${subagents.length > 0 &&
    html`<div class="subagents" role="listitem">
      <button class="button plain small-button" aria-expanded=${open} onClick=${() => setOpen(!open)}>
        ${open ? "▾" : "▸"} ${plural(subagents.length + more, "sub-agent")}
      </button>
      ${open &&
      html`<div role="list" aria-label=${`Sub-agents of ${info.title || info.id}`}>
        ${subagents.map((one) => html`<${SessionRow} key=${one.id} workspace=${workspace} info=${one} />`)}
      </div>`}
    </div>`}`;
}

const NoSessions = ({ words }) =>
  words
    ? html`<p class="muted small">No session begins with these words; what was said in them is searched below.</p>`
    : html`<${Empty} title="No sessions here yet">
        <p>They appear here the moment an agent starts in this workspace.</p>
        <pre>outlive -p "what is this project about?"</pre>
      </${Empty}>`;
