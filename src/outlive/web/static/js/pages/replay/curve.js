// The size of each request over time, beside what it would have been without compaction; passes as marks.
import { html } from "../../html.js";
import { short } from "../../format.js";

const WIDTH = 1000;
const HEIGHT = 200;

export function Curve({ points }) {
  if (points.length === 0) return html`<p class="muted">No request fits this window.</p>`;
  const most = Math.max(...points.map((one) => Math.max(one.tokens, one.plain)), 1);
  const x = (at) => (points.length > 1 ? (at / (points.length - 1)) * WIDTH : WIDTH / 2);
  const y = (tokens) => HEIGHT - (tokens / most) * HEIGHT;
  const line = (key) => points.map((one, at) => `${x(at).toFixed(1)},${y(one[key]).toFixed(1)}`).join(" ");
  const last = points.at(-1);
  const label = `The last request has ${short(last.tokens)} tokens, without compaction ${short(last.plain)}`;
  return html`<svg class="curve" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${label}>
      <polyline class="plain" points=${line("plain")} />
      <polygon class="area" points=${`0,${HEIGHT} ${line("tokens")} ${WIDTH},${HEIGHT}`} />
      <polyline class="tokens" points=${line("tokens")} />
      ${points.map((one, at) => one.passes > 0 && html`<line key=${at} class="pass" x1=${x(at)} x2=${x(at)} y1="0" y2=${HEIGHT} />`)}
    </svg>
    <p class="row small muted legend"><span class="key tokens"></span>request <span class="key plain"></span>without compaction <span class="key pass"></span>pass <span class="grow"></span>up to ${short(most)} tokens</p>`;
}
