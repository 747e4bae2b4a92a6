// Memories by state, type and scope, or the finds of a search with their scores.
import { html } from "../../html.js";
import { withQuery } from "../../api.js";
import { useLive, useReloads } from "../../live.js";
import { usePages } from "../../pages.js";
import { plural } from "../../format.js";
import { Empty, Failed, Loaded, Loading } from "../../ui/states.js";
import { VirtualList } from "../../ui/virtual.js";
import { TextFilter } from "../tasks/filters.js";
import { MemoryRow, STATES, TYPES } from "./row.js";

export function MemoryList({ workspace, values, change, link, selected }) {
  const words = (values.q ?? "").trim();
  return html`<div class="row task-filters" role="search" aria-label="Search memories">
      <${TextFilter} value=${values.q ?? ""} set=${(q) => change({ q })} label="Search memories by what they are about" />
      ${!words && html`<${Choices} values=${values} change=${change} />`}
    </div>
    ${words
      ? html`<${Finds} workspace=${workspace} words=${words} link=${link} selected=${selected} />`
      : html`<${All} workspace=${workspace} values=${values} link=${link} selected=${selected} />`}`;
}

const Choices = ({ values, change }) => html`
  <${Choice} name="state" all="Active or blocked" values=${values} change=${change} options=${Object.entries(STATES).map(([key, { name }]) => [key, name])} />
  <${Choice} name="type" all="All types" values=${values} change=${change} options=${Object.entries(TYPES).map(([key, about]) => [key, `${key}: ${about}`])} />
  <${Choice} name="scope" all="All scopes" values=${values} change=${change} options=${[["project", "of this project"], ["user", "yours everywhere"]]} />`;

const Choice = ({ name, all, values, change, options }) => html`<select class="field" aria-label=${`Filter by ${name}`}
  value=${values[name] ?? ""} onChange=${(event) => change({ [name]: event.target.value })}>
  <option value="">${all}</option>
  ${options.map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}
</select>`;

function All({ workspace, values, link, selected }) {
  const { state, type, scope } = values;
  const found = usePages(`/api/w/${workspace}/memory`, { state, type, scope }, "memories");
  useReloads(workspace, "memories", found);
  if (!found.head) return found.error ? html`<${Failed} error=${found.error} retry=${found.reload} />` : html`<${Loading} what="Reading memories" />`;
  if (!found.count) return html`<${Nothing} filtered=${Boolean(state || type || scope)} />`;
  const keyOf = (row, at) => (row ? `${row.scope}/${row.slug}` : `place ${at}`);
  return html`<p class="small muted" role="status">${plural(found.count, "memory", "memories")}</p>
    <div class="card memory-list">
      <${VirtualList} label="Memories" count=${found.count} estimate=${74} keyOf=${(at) => keyOf(found.peek(at), at)}
        row=${(at) => (found.at(at) ? html`<${MemoryRow} row=${found.at(at)} link=${link} selected=${selected} />` : html`<div class="memory-row muted">…</div>`)} />
    </div>`;
}

function Finds({ workspace, words, link, selected }) {
  const found = useLive(workspace, "memories", withQuery(`/api/w/${workspace}/memory/search`, { q: words }));
  return html`<${Loaded} from=${found} what="Searching">
    ${({ hits }) =>
      hits.length
        ? html`<p class="small muted" role="status">${plural(hits.length, "memory", "memories")}, the best first. What is held back is not searched.</p>
            <div class="card memory-list" role="list" aria-label="Finds">
              ${hits.map((hit) => html`<div role="listitem" key=${`${hit.memory.scope}/${hit.memory.slug}`}>
                <${MemoryRow} row=${hit.memory} hit=${hit} link=${link} selected=${selected} /></div>`)}
            </div>`
        : html`<${Empty} title="Nothing is remembered about that"><p>Memories that are held back, replaced or forgotten are not searched.</p></${Empty}>`}
  </${Loaded}>`;
}

const Nothing = ({ filtered }) =>
  filtered
    ? html`<${Empty} title="No memory matches" />`
    : html`<${Empty} title="Nothing is remembered here yet">
        <p>Agents remember what you ask them to, and what you correct. You can add something yourself:</p>
        <pre>outlive memory add "Use tabs" "Makefiles need tabs" --type feedback</pre>
      </${Empty}>`;
