// Words in all logs: found page by page, each hit with the event that holds it.
import { html, useEffect, useState } from "../../html.js";
import { get, withQuery } from "../../api.js";
import { plural } from "../../format.js";
import { Link } from "../../router.js";
import { Ago } from "../../ui/parts.js";
import { Failed } from "../../ui/states.js";

const PAUSE = 250; // milliseconds without a key before the logs are searched

export function SearchHits({ workspace, words }) {
  const [hits, setHits] = useState([]);
  const [page, setPage] = useState(null);
  const [busy, setBusy] = useState(true);
  const [error, setError] = useState(null);
  const ask = async (from, signal) => {
    setBusy(true);
    try {
      const found = await get(withQuery(`/api/w/${workspace}/search`, { q: words, from }), signal);
      setHits((old) => (from ? [...old, ...found.hits] : found.hits));
      setPage(found);
      setError(null);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      setError(problem);
    }
    setBusy(false);
  };
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => ask("", abort.signal), PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, []);
  return html`<section class="stack" aria-label="Found in the logs">
    <h2>In what was said and done</h2>
    <p class="small muted" role="status">
      ${busy ? "Searching …" : page && `${plural(hits.length, "place")} in ${plural(page.searched, "session")} of ${page.total}`}
    </p>
    ${error && html`<${Failed} error=${error} />`}
    ${hits.length > 0 &&
    html`<div class="card session-list" role="list" aria-label="Places">
      ${hits.map((hit) => html`<${Hit} key=${`${hit.session} ${hit.event}`} hit=${hit} words=${words} workspace=${workspace} />`)}
    </div>`}
    ${page?.next && !busy && html`<button class="button" onClick=${() => ask(page.next)}>Search on in older sessions</button>`}
    ${page?.skipped.map((text) => html`<p class="small muted" key=${text}>Not searched: ${text}</p>`)}
  </section>`;
}

// The text with the words that were searched for marked.
function Marked({ text, words }) {
  const wanted = words.trim().split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!wanted.length) return text;
  return text.split(new RegExp(`(${wanted.join("|")})`, "gi")).map((part, at) => (at % 2 ? html`<mark key=${at}>${part}</mark>` : part));
}

const Hit = ({ hit, words, workspace }) => html`<div role="listitem">
  <${Link} class="session-row" to=${`/w/${workspace}/sessions/${encodeURIComponent(hit.session)}?event=${hit.event}`}>
    <span class="grow stack"><span class="hit" dir="auto"><${Marked} text=${hit.text} words=${words} /></span><span class="clip muted small" dir="auto">${hit.title || hit.session}${hit.more ? " · more places in this session: open it" : ""}</span></span>
    <span class="facts small muted"><span>${hit.kind}</span><${Ago} at=${hit.time} /></span>
  </${Link}>
</div>`;
