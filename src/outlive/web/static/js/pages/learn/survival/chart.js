// The window over time: a column a request, bands by what fills it, ▼ where a pass was made.
import { html, useState } from "../../../html.js";
import { plural } from "../../../format.js";

const HEIGHT = 150;
const TOP = 16;
const COLUMN = 30;
const KINDS = [
  ["system", "system", "Instructions of the harness"],
  ["digest", "digest", "Digest of what was folded"],
  ["user", "user", "Your words"],
  ["assistant", "assistant", "The agent's words"],
  ["calls", "calls", "Tool calls"],
  ["results", "results", "Results: files, logs, output"],
  ["state", "state", "State: goal, instructions, tasks"],
];

export function WindowChart({ moments, window }) {
  const [at, setAt] = useState(null);
  const shown = moments[Math.min(at ?? moments.length - 1, moments.length - 1)];
  const most = Math.max(window, ...moments.map((moment) => moment.tokens));
  const scale = (HEIGHT - TOP) / most;
  const limit = HEIGHT - window * scale;
  const width = Math.max(moments.length, 8) * COLUMN;
  const passes = moments.reduce((sum, moment) => sum + moment.passes.length, 0);
  const words = `${plural(moments.length, "request")}, ${plural(passes, "pass", "passes")}, window of ${window.toLocaleString("en")} tokens`;
  return html`<figure class="learn-window-chart">
    <svg viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${words} preserveAspectRatio="none" onMouseLeave=${() => setAt(null)}>
      ${moments.map((moment, number) => html`<${Column} key=${number} x=${number * COLUMN} moment=${moment} scale=${scale} shown=${moment === shown} enter=${() => setAt(number)} />`)}
      <line class="limit" x1="0" x2=${width} y1=${limit} y2=${limit} />
    </svg>
    <figcaption class="small">
      <p><b>${words}.</b> ${told(shown)}</p>
      <ul class="learn-kinds">
        ${KINDS.map(([key, kind, name]) => html`<li key=${key}><i class=${`kind-${kind}`}></i>${name} <b>${(shown.kinds[key] ?? 0).toLocaleString("en")}</b></li>`)}
      </ul>
    </figcaption>
  </figure>`;
}

function Column({ x, moment, scale, shown, enter }) {
  let y = HEIGHT;
  const bands = KINDS.map(([key, kind]) => {
    const height = (moment.kinds[key] ?? 0) * scale;
    y -= height;
    return html`<rect key=${key} x=${x + 3} y=${y} width=${COLUMN - 6} height=${height} class=${`kind-${kind}`} />`;
  });
  return html`<g onMouseEnter=${enter} onClick=${enter}>
    <rect x=${x} y="0" width=${COLUMN} height=${HEIGHT} class="hit ${shown ? "shown" : ""}" />
    ${bands}
    ${moment.passes.length > 0 && html`<path class="pass" d=${`M${x + 9},1h12l-6,10z`} />`}
  </g>`;
}

const told = (moment) =>
  moment.passes.length
    ? moment.passes.map((made) => `Before this request a pass (${made.rungs.join(" + ")}) went from ${made.before.toLocaleString("en")} to ${made.after.toLocaleString("en")} tokens. `)
    : `This request: ${moment.tokens.toLocaleString("en")} tokens.`;
