// The frame of the graph: camera, selection, and what would be unblocked.
import { html, useEffect, useMemo, useState } from "../../../html.js";
import { plural } from "../../../format.js";
import { STATES } from "../state.js";
import { titleOf } from "./boxes.js";
import { useCamera } from "./camera.js";
import { useGestures } from "./gestures.js";
import { reachOf, waitersOf } from "./reach.js";
import { Lit, Scene } from "./scene.js";

const READABLE = 0.42; // below this scale boxes are drawn without text
const NOTHING = new Set();

export function Picture({ layout, picture, skew, find, open, selected }) {
  const focus = useMemo(() => middleOf(layout, picture.critical), [layout]);
  const camera = useCamera(layout.width, layout.height, focus);
  const [pointed, setPointed] = useState(null);
  const [cursor, setCursor] = useState(selected);
  const byId = useMemo(() => new Map(picture.nodes.map((node) => [node.id, node])), [picture]);
  const waiters = useMemo(() => waitersOf(picture.nodes), [picture]);
  const places = useMemo(() => new Map(layout.boxes.map(([id, x, y]) => [id, [x, y]])), [layout]);
  const matches = useMemo(() => matching(picture.nodes, find), [picture, find]);

  const show = (id, { readable = false } = {}) => {
    const [x, y] = places.get(id) ?? [];
    const seen = camera.shows(x, y, ...layout.box) && !(readable && camera.view.scale < READABLE);
    if (x !== undefined && !seen) camera.centre(x + layout.box[0] / 2, y + layout.box[1] / 2);
  };
  const next = (by) => {
    const ids = matches ? [...matches] : layout.boxes.map(([id]) => id);
    const at = ids.indexOf(cursor);
    const id = ids[at < 0 ? (by > 0 ? 0 : ids.length - 1) : (at + by + ids.length) % ids.length];
    if (id === undefined) return;
    setCursor(id);
    show(id);
  };
  const gestures = useGestures(camera, { next, choose: () => cursor !== null && byId.has(cursor) && open(cursor) });
  useEffect(() => setCursor(selected), [selected]);
  useEffect(() => {
    if (matches?.size && camera.size.width) show([...matches][0], { readable: true });
  }, [find]);
  useEffect(() => {
    if (selected !== null && camera.size.width) show(selected);
  }, [selected, camera.size.width]);

  const click = (event) => {
    const id = taskAt(event.target);
    if (id !== null && !gestures.wasDrag()) open(id);
  };
  const chosen = pointed ?? cursor;
  const reach = useMemo(() => (chosen !== null && byId.has(chosen) ? reachOf(chosen, waiters, byId) : null), [chosen, byId]);
  const lit = reach?.all ?? matches;
  const far = camera.view.scale < READABLE;
  const region = useRegion(camera);
  const scene = useMemo(
    () => html`<${Scene} layout=${layout} byId=${byId} critical=${picture.critical} region=${region} far=${far} skew=${skew} />`,
    [layout, byId, region, far],
  );
  const { left, top, scale } = camera.view;
  return html`<div class="card graph-frame">
    <div class="graph-tools">
      <button class="button" aria-label="Zoom in" onClick=${() => camera.zoom(1.25)}>+</button>
      <button class="button" aria-label="Zoom out" onClick=${() => camera.zoom(0.8)}>−</button>
      <button class="button" onClick=${camera.fit}>Fit</button>
    </div>
    <div class="graph-canvas" ref=${camera.frame} tabindex="0" role="application" aria-label="Task graph"
      aria-describedby="graph-keys" ...${gestures.handlers} onClick=${click}
      onPointerOver=${(event) => setPointed(taskAt(event.target))} onPointerLeave=${() => setPointed(null)}>
      <svg width="100%" height="100%" class=${`graph ${lit ? "dimmed" : ""} ${far ? "far" : ""}`} aria-hidden="true">
        <${Arrows} />
        <g transform="translate(${left},${top}) scale(${scale})">
          ${scene}
          ${lit && html`<${Lit} layout=${layout} byId=${byId} ids=${lit} ready=${reach?.ready ?? NOTHING} chosen=${chosen} far=${far} skew=${skew} />`}
        </g>
      </svg>
    </div>
    <${Legend} nodes=${picture.nodes} />
    <p class="graph-told small" role="status">${told(chosen, reach, byId, matches, find)}</p>
    <p class="small muted graph-keys" id="graph-keys">Drag or arrow keys to move, wheel or <kbd>+</kbd> <kbd>-</kbd> to zoom, <kbd>0</kbd> fits,${" "}
      <kbd>n</kbd> and <kbd>p</kbd> go from task to task, <kbd>Enter</kbd> opens.</p>
  </div>`;
}

// What is in view and as much around it, changing only now and then while one pans.
function useRegion({ view, size }) {
  const grain = 600;
  const edge = (pixels, origin, round) => round((pixels - origin) / view.scale / grain) * grain;
  const left = edge(-size.width / 2, view.left, Math.floor);
  const right = edge(size.width * 1.5, view.left, Math.ceil);
  const top = edge(-size.height / 2, view.top, Math.floor);
  const bottom = edge(size.height * 1.5, view.top, Math.ceil);
  return useMemo(() => ({ left, right, top, bottom }), [left, right, top, bottom]);
}

// The first open task of the critical path, else the first task.
function middleOf(layout, critical) {
  const found = layout.boxes.find(([id]) => id === critical[0]) ?? layout.boxes[0];
  return found ? [found[1] + layout.box[0] / 2, found[2] + layout.box[1] / 2] : null;
}

function taskAt(element) {
  const node = element.closest?.("[data-task]");
  return node ? Number(node.dataset.task) : null;
}

function matching(nodes, find) {
  const wanted = find.trim().toLowerCase();
  if (!wanted) return null;
  return new Set(nodes.filter((node) => titleOf(node).split("\n")[0].toLowerCase().includes(wanted)).map((node) => node.id));
}

function told(chosen, reach, byId, matches, find) {
  if (!reach) return matches ? `${plural(matches.size, "task")} with “${find.trim()}”` : "Point at a task to see what waits for it.";
  const [name] = titleOf(byId.get(chosen)).split("\n");
  const waiting = reach.all.size - 1;
  const state = STATES[byId.get(chosen).state].name;
  if (!waiting) return `${name}: ${state}. No open task waits for it.`;
  return `${name}: ${state}. Completing it makes ${plural(reach.ready.size, "task")} ready; ${plural(waiting, "open task waits", "open tasks wait")} for it, directly or not.`;
}

const Arrows = () => html`<defs>
  ${["done", "open", "closing", "critical"].map(
    (kind) => html`<marker key=${kind} id=${`arrow-${kind}`} class="arrow ${kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">
      <path d="M0,0.5L8,4L0,7.5Z"></path></marker>`,
  )}
</defs>`;

function Legend({ nodes }) {
  const counts = useMemo(() => {
    const found = {};
    for (const node of nodes) found[node.state] = (found[node.state] ?? 0) + 1;
    return found;
  }, [nodes]);
  return html`<ul class="graph-legend small">
    ${Object.entries(STATES).map(
      ([state, { name, mark }]) => counts[state] && html`<li key=${state} class=${state}><span aria-hidden="true">${mark}</span> ${counts[state].toLocaleString("en")} ${name}</li>`,
    )}
  </ul>`;
}
