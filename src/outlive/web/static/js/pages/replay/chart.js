// Policies as points: to the right what they cost, upwards how much of what was used next was in view.
import { html } from "../../html.js";
import { percent } from "../../format.js";

const WIDTH = 520;
const HEIGHT = 300;
const LEFT = 56;
const BOTTOM = 42;
const TOP = 18;
const RIGHT = 60;

const LETTER = 6.6; // pixels, roughly
const LINE = 15;

// Where the names of points go: below or above, and further where another name is; inside of the picture.
function placed(points) {
  const taken = [];
  return points.map((point) => {
    const x = Math.max(point.wide / 2 + 2, Math.min(WIDTH - point.wide / 2 - 2, point.x));
    const free = (y) => y > 10 && y < HEIGHT - BOTTOM + 8 && taken.every((one) => Math.abs(one.y - y) >= LINE || Math.abs(one.x - x) > (one.wide + point.wide) / 2 + 6);
    const y = [22, -12, 37, -27, 52, -42, 67, -57, 82, 97].map((by) => point.y + by).find(free) ?? point.y + 22;
    taken.push({ x, y, wide: point.wide });
    return { x, y };
  });
}

export function CostChart({ policies, chosen, choose }) {
  const points = [...policies.map((one) => ({ name: one.policy, cost: one.ratio, share: one.survives })), { name: "no compaction", cost: 1, share: 1, plain: true }];
  const most = Math.max(1.05, ...points.map((one) => one.cost)) * 1.05;
  const least = Math.max(0, Math.min(0.9, ...points.map((one) => one.share)) - 0.08);
  const x = (cost) => LEFT + (cost / most) * (WIDTH - LEFT - RIGHT);
  const y = (share) => TOP + ((1 - share) / (1 - least)) * (HEIGHT - TOP - BOTTOM);
  const rows = [least, (1 + least) / 2, 1];
  const columns = [0, 0.25, 0.5, 0.75, 1].filter((one) => one <= most);
  const label = points.map((one) => `${one.name}: ${percent(one.cost)} of the cost, ${percent(one.share)} in view`).join("; ");
  const labels = placed(points.map((point) => ({ x: x(point.cost), y: y(point.share), wide: point.name.length * LETTER })));
  const keys = (event, point) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(point.name);
  };
  return html`<svg class="cost-chart" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label=${label}>
      ${rows.map((share) => html`<g key=${share}><line class="grid" x1=${LEFT} x2=${WIDTH - RIGHT} y1=${y(share)} y2=${y(share)} /><text class="tick end" x=${LEFT - 8} y=${y(share) + 4}>${percent(share)}</text></g>`)}
      ${columns.map((cost) => html`<g key=${cost}><line class="grid" x1=${x(cost)} x2=${x(cost)} y1=${TOP} y2=${HEIGHT - BOTTOM} /><text class="tick middle" x=${x(cost)} y=${HEIGHT - BOTTOM + 18}>${percent(cost)}</text></g>`)}
      <text class="tick middle" x=${(LEFT + WIDTH - RIGHT) / 2} y=${HEIGHT - 6}>cost relative to no compaction</text>
      ${points.map((point, at) => html`<g key=${point.name} class=${`point ${point.plain ? "plain" : ""} ${point.name === chosen ? "chosen" : ""}`}
        role=${point.plain ? undefined : "button"} tabindex=${point.plain ? undefined : 0} aria-label=${`${point.name}: ${percent(point.cost)} of the cost, ${percent(point.share)} in view`}
        aria-pressed=${point.plain ? undefined : point.name === chosen} onClick=${() => point.plain || choose(point.name)} onKeyDown=${(event) => point.plain || keys(event, point)}>
        <circle cx=${x(point.cost)} cy=${y(point.share)} r="7" />
        <text class="name middle" x=${labels[at].x} y=${labels[at].y}>${point.name}</text>
      </g>`)}
    </svg>
    <p class="small muted">Vertical axis: share of reused names still in the request. A reused name is one that the agent used in a call after the first pass and had met before.</p>`;
}
