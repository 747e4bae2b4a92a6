// The filters of board and table. They are part of the address.
import { html, useEffect, useRef, useState } from "../../html.js";
import { STATES } from "./state.js";

const WAIT = 200; // milliseconds after the last key

export function Filters({ values, change, facets, states }) {
  const chosen = ["state", "label", "owner", "text", "archived"].some((name) => values[name]);
  const clear = () => change({ state: "", label: "", owner: "", text: "", archived: "" });
  return html`<div class="row task-filters" role="search" aria-label="Filter tasks">
    <${TextFilter} value=${values.text ?? ""} set=${(text) => change({ text })} label="Find in subject or description" />
    ${states &&
    html`<${Choice} name="state" value=${values.state} change=${change} all="All states"
      options=${[["open", "open"], ["done", "finished"], ...Object.keys(STATES).map((key) => [key, `${STATES[key].name} (${facets?.states[key] ?? 0})`])]} />`}
    <${Choice} name="label" value=${values.label} change=${change} all="All labels" options=${counted(facets?.labels)} />
    <${Choice} name="owner" value=${values.owner} change=${change} all="All owners" options=${counted(facets?.owners)} />
    ${states &&
    html`<label class="row small"><input type="checkbox" checked=${values.archived === "1"}
      onChange=${(event) => change({ archived: event.target.checked ? "1" : "" })} />Show archived</label>`}
    ${chosen && html`<button class="button plain" onClick=${clear}>Clear</button>`}
  </div>`;
}

const counted = (facets = {}) => Object.entries(facets).map(([name, count]) => [name, `${name} (${count})`]);

function Choice({ name, value = "", change, all, options }) {
  const known = options.some(([key]) => key === value);
  return html`<select class="field" aria-label=${`Filter by ${name}`} value=${value}
    onChange=${(event) => change({ [name]: event.target.value })}>
    <option value="">${all}</option>
    ${value && !known && html`<option value=${value}>${value}</option>`}
    ${options.map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}
  </select>`;
}

// A search field that speaks up once typing pauses.
export function TextFilter({ value, set, label }) {
  const [typed, setTyped] = useState(value);
  const timer = useRef(null);
  const latest = useRef(set);
  latest.current = set; // other parts of the address may change while one types
  useEffect(() => setTyped(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const input = (event) => {
    const text = event.target.value;
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current(text), WAIT);
  };
  return html`<input class="field grow" type="search" placeholder=${label} aria-label=${label} value=${typed} onInput=${input} />`;
}
