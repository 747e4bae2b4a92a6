// The view before and after a pass, side by side.
import { html, useState } from "../../html.js";
import { get, useData, withQuery } from "../../api.js";
import { Loaded } from "../../ui/states.js";
import { usePlace } from "./place.js";
import { ViewRow } from "./row.js";

const FILTERS = { "": "all", new: "new", left: "left", shrunk: "shrunk", changed: "changed", moved: "moved", same: "unchanged" };

export function Compared({ event }) {
  const { base } = usePlace();
  const [change, setChange] = useState("");
  const path = withQuery(`${base}/passes/${event}/rows`, { change });
  const found = useData(path);
  return html`<${Loaded} from=${found} what="Comparing">${(data) => html`
    <div class="row small" role="group" aria-label="Which blocks">
      ${Object.entries(FILTERS).map(
        ([key, name]) => html`<button class="chip" key=${key} aria-pressed=${key === change} onClick=${() => setChange(key)}>
          ${name} ${key ? data.counts[key] : Object.values(data.counts).reduce((sum, one) => sum + one, 0)}
        </button>`,
      )}
    </div>
    <${Pairs} key=${path} first=${data} path=${path} base=${base} event=${event} />`}</${Loaded}>`;
}

const NOTES = { new: "new", changed: "changed" };
const GONE = {
  moved: "kept verbatim: it stands among the user's words",
  state: "replaced by the state block that is rendered again",
};

function Pairs({ first, path, base, event }) {
  const [pages, setPages] = useState([first]);
  const { next, total } = pages.at(-1);
  const more = async () => setPages([...pages, await get(`${path}${path.includes("?") ? "&" : "?"}skip=${next}`)]);
  return html`<div class="compared">
    <h3>Before</h3><h3>After</h3>
    ${pages.flatMap(({ pairs }) => pairs).map((pair) => html`<${Pair} key=${pair.number} pair=${pair} text=${`${base}/passes/${event}/text?row=${pair.number}`} />`)}
    ${next && html`<button class="button small-button wide-cell" onClick=${more}>Show more (${total - next} of ${total})</button>`}
  </div>`;
}

function Pair({ pair: { change, before, after }, text }) {
  if (change === "same") {
    return html`<div class="wide-cell"><${ViewRow} row=${before} quiet=${true} note="unchanged" textFrom=${`${text}&side=before`} /></div>`;
  }
  const gone = GONE[change === "left" ? before.kind : change] ?? `left the view${before?.handles?.length ? "; the digest names its handle" : ""}`;
  return html`<div class=${`cell ${change}`}>${before && html`<${ViewRow} row=${before} withHandles=${change === "left"} textFrom=${`${text}&side=before`} />`}</div>
    <div class=${`cell ${change}`}>
      ${after
        ? html`<${ViewRow} row=${after} note=${NOTES[change] ?? ""} textFrom=${`${text}&side=after`} />`
        : html`<p class="gone small muted">${gone}</p>`}
    </div>`;
}
