// The picture of the graph. The server laid it out; here are boxes that can be chosen, and arrows.
import { html, useEffect, useRef } from "../../../html.js";

const MARGIN = 10;
const STATES = { ready: "ready", blocked: "blocked", in_progress: "in progress", completed: "completed", cancelled: "cancelled" };

export function Picture({ picture, tasks, now, chosen, choose }) {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const [width, height] = [picture.width + 2 * MARGIN, picture.height + 2 * MARGIN];
  const svg = useRef(null);
  const step = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const ids = tasks.map((task) => task.id);
    if (!by) return;
    event.preventDefault();
    const next = ids[(ids.indexOf(Number(event.target.dataset.task)) + by + ids.length) % ids.length];
    svg.current.querySelector(`[data-task="${next}"]`)?.focus();
  };
  return html`<div class="card graph-picture">
    <svg ref=${svg} viewBox=${`0 0 ${width} ${height}`} role="group" aria-label="The task graph" onKeyDown=${step}>
      <defs>
        <marker id="learn-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
          <path d="M0,0L8,4L0,8z" class="arrow-head" />
        </marker>
      </defs>
      <g transform=${`translate(${MARGIN},${MARGIN})`}>
        ${picture.edges.map(
          (edge) => html`<path key=${`${edge.from}-${edge.to}`} d=${edge.path} class="edge ${edge.done ? "done" : ""}" marker-end="url(#learn-arrow)" />`,
        )}
        ${picture.boxes.map(
          (box) => html`<${Box} key=${box.id} box=${box} size=${picture.box} task=${byId.get(box.id)} now=${now} chosen=${box.id === chosen} choose=${choose} />`,
        )}
      </g>
    </svg>
    <p class="small muted legend" aria-hidden="true">○ ready · ◌ blocked · ◐ in progress · ✓ completed. An arrow points to what waits.</p>
  </div>`;
}

function Box({ box, size, task, now, chosen, choose }) {
  const group = useRef(null);
  useEffect(() => {
    if (chosen && group.current.closest(".graph-picture").scrollWidth > group.current.closest(".graph-picture").clientWidth) {
      group.current.scrollIntoView({ block: "nearest", inline: "center" });
    }
  }, [chosen]);
  const pick = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(task.id);
  };
  const left = task.lease ? Math.max(0, Math.ceil(task.lease.expires - now)) : null;
  const name = `Task ${task.id}: ${task.subject}, ${STATES[task.state]}${task.lease ? `, held by ${task.lease.owner}` : ""}`;
  return html`<g
    ref=${group} class="box ${task.state} ${chosen ? "chosen" : ""}" transform=${`translate(${box.x},${box.y})`} data-task=${task.id}
    role="button" tabindex="0" aria-pressed=${chosen} aria-label=${name} onClick=${pick} onKeyDown=${pick}>
    <rect width=${size[0]} height=${size[1]} rx="9" />
    <text x="13" y=${task.lease ? 21 : 30} class="mark">${task.mark}</text>
    <text x="34" y=${task.lease ? 21 : 30}><tspan class="id">${task.id}</tspan> ${task.subject}</text>
    ${task.lease && html`<text x="34" y="40" class="lease">${task.lease.owner} · ${left} s left</text>`}
  </g>`;
}
