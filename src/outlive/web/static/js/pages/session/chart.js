// The chart: one column a request. Bands are one path each, so thousands of columns cost little.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../html.js";
import { short } from "../../format.js";
import { isTakenBack } from "./feed.js";
import { BANDS, usePlace } from "./place.js";

const TALL = { window: 150, cache: 26, cost: 26, gap: 12, marks: 12 };
const WIDEST = 26;
const NARROWEST = 3;
const HEIGHT = TALL.marks + TALL.window + TALL.gap + TALL.cache + TALL.gap + TALL.cost;

// `choose` pins a column, `point` shows one as long as the mouse is there.
export function Chart({ columns, cursor, choose, point, takenBack, following }) {
  const { openPass, openView } = usePlace();
  const box = useRef(null);
  const [room, setRoom] = useState(400);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setRoom(Math.floor(entry.contentRect.width)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const count = columns.length;
  const wide = Math.max(NARROWEST, Math.min(WIDEST, room / count));
  const width = Math.max(room, Math.ceil(wide * count));
  const shapes = useMemo(() => draw(columns, wide), [columns, wide]);

  // The cursor stays in view; a chart that follows shows its end.
  useEffect(() => {
    const { current } = box;
    const x = cursor * wide;
    if (following) {
      if (!current.matches(":hover")) current.scrollLeft = width;
    } else if (x < current.scrollLeft || x + wide > current.scrollLeft + current.clientWidth) current.scrollLeft = x - current.clientWidth / 2;
  }, [cursor, wide, width, following]);

  const columnAt = (event) => {
    const x = event.clientX - box.current.getBoundingClientRect().left + box.current.scrollLeft;
    return Math.max(0, Math.min(count - 1, Math.floor(x / wide)));
  };
  const keys = (event) => {
    const far = Math.max(1, Math.floor(room / wide / 2));
    const to = {
      ArrowLeft: cursor - 1,
      ArrowRight: cursor + 1,
      ArrowDown: cursor - 1,
      ArrowUp: cursor + 1,
      PageUp: cursor + far,
      PageDown: cursor - far,
      Home: 0,
      End: count - 1,
      p: nextPass(columns, cursor, 1),
      P: nextPass(columns, cursor, -1),
    }[event.key];
    if (to !== undefined) choose(to);
    else if (event.key === "Enter") openView(cursor + 1);
    else if (event.key === " " && columns[cursor].passes.length) openPass(columns[cursor].passes.at(-1));
    else return;
    event.preventDefault();
  };
  const here = columns[cursor];
  const said = `Request ${cursor + 1} of ${count}: ${short(here.tokens)} tokens${here.passes.length ? ", after a pass" : ""}`;
  return html`<div class="chart-frame">
    <div
      class="chart" ref=${box} tabindex="0" role="slider" aria-label="Requests. Arrow keys move, Enter opens the view, p goes to the next pass, Space opens it"
      aria-valuemin="1" aria-valuemax=${count} aria-valuenow=${cursor + 1} aria-valuetext=${said}
      onKeyDown=${keys} onMouseMove=${(event) => point(columnAt(event))} onMouseLeave=${() => point(null)}
      onClick=${(event) => choose(columnAt(event))} onDblClick=${(event) => openView(columnAt(event) + 1)}>
      <svg width=${width} height=${HEIGHT} viewBox=${`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
        <line class="axis" x1="0" x2=${width} y1=${TALL.marks + TALL.window} y2=${TALL.marks + TALL.window} />
        ${Object.keys(BANDS).map((key, at) => html`<path key=${key} class=${`band ${key}`} d=${shapes.bands[at]} />`)}
        ${["read", "written", "fresh"].map((key) => html`<path key=${key} class=${`band ${key}`} d=${shapes.cache[key]} />`)}
        <path class="band cost" d=${shapes.cost} />
        ${columns.map(
          ({ event }, at) => isTakenBack(takenBack, event) && html`<rect key=${event} class="veil" x=${at * wide} y=${TALL.marks} width=${wide} height=${TALL.window} />`,
        )}
        ${columns.map(
          ({ missed, rewrote, event }, at) => (missed || rewrote > 0) && html`<circle key=${event} class="miss" cx=${(at + 0.5) * wide} cy=${TALL.marks + TALL.window + TALL.gap / 2} r="2.5" />`,
        )}
        ${columns.map(({ passes }, at) => passes.length > 0 && html`<${Mark} key=${passes[0]} x=${at * wide} open=${() => openPass(passes.at(-1))} undone=${isTakenBack(takenBack, passes.at(-1))} />`)}
        <rect class="cursor" x=${cursor * wide} y=${TALL.marks} width=${wide} height=${HEIGHT - TALL.marks} />
      </svg>
    </div>
    <p class="chart-labels small muted" aria-hidden="true"><span>From above: tokens (peak ${short(shapes.most)})</span><span>cache</span><span>cost</span></p>
  </div>`;
}

function Mark({ x, open, undone }) {
  const click = (event) => {
    event.stopPropagation();
    open();
  };
  return html`<g class=${`mark ${undone ? "undone" : ""}`} onClick=${click}>
    <line x1=${x} x2=${x} y1="8" y2=${TALL.marks + TALL.window} />
    <path d=${`M${x - 5},0 h10 l-5,9 z`} />
    <rect x=${x - 7} y="0" width="14" height=${TALL.marks} />
  </g>`;
}

function nextPass(columns, from, by) {
  for (let at = from + by; at >= 0 && at < columns.length; at += by) if (columns[at].passes.length) return at;
  return from;
}

// One path for each band: a rectangle for each column.
function draw(columns, wide) {
  const most = Math.max(1, ...columns.map((column) => column.tokens));
  const dearest = Math.max(1e-9, ...columns.map((column) => column.cost + column.other_cost));
  const bands = Object.keys(BANDS).map(() => []);
  const cache = { read: [], written: [], fresh: [] };
  const cost = [];
  const gap = wide >= 6 ? 1 : 0;
  const box = (at, from, size) => `M${(at * wide).toFixed(2)},${from.toFixed(2)}h${(wide - gap).toFixed(2)}v${(-size).toFixed(2)}h${(gap - wide).toFixed(2)}z`;
  const cacheFoot = TALL.marks + TALL.window + TALL.gap + TALL.cache;
  for (const [at, column] of columns.entries()) {
    let foot = TALL.marks + TALL.window;
    for (const [band, size] of column.bands.entries()) {
      const tall = (size / most) * TALL.window;
      if (tall > 0) bands[band].push(box(at, foot, tall));
      foot -= tall;
    }
    const sent = column.read + column.written + column.fresh;
    foot = cacheFoot;
    for (const kind of sent ? Object.keys(cache) : []) {
      const tall = (column[kind] / sent) * TALL.cache;
      if (tall > 0) cache[kind].push(box(at, foot, tall));
      foot -= tall;
    }
    const price = ((column.cost + column.other_cost) / dearest) * TALL.cost;
    if (price > 0) cost.push(box(at, HEIGHT, price));
  }
  const joined = Object.fromEntries(Object.entries(cache).map(([kind, rows]) => [kind, rows.join("")]));
  return { bands: bands.map((rows) => rows.join("")), cache: joined, cost: cost.join(""), most };
}
