// Tasks as boxes of the picture.
import { html } from "../../../html.js";
import { LeaseText } from "./lease.js";
import { STATES } from "../state.js";

export function Box({ node, x, y, width, height, far, compact, skew, mark = "" }) {
  const [first, ...rest] = node.lines;
  const [id, ...words] = first.split(" ");
  const small = compact ? " small" : "";
  const middle = height / 2 + (compact ? 4 : 4.5);
  const base = rest.length ? middle - 8 : middle;
  const left = compact ? 22 : 32;
  return html`<g class="node ${node.state}${small} ${mark}" data-task=${node.id} transform="translate(${x},${y})">
    <rect width=${width} height=${height} rx=${compact ? 5 : 9}></rect>
    ${!far &&
    html`<title>${titleOf(node)}</title>
      <text class="mark" x=${compact ? 7 : 12} y=${middle}>${STATES[node.state].mark}</text>
      <text x=${left} y=${base}><tspan class="id">${id}</tspan> ${words.join(" ")}
        ${rest.map((line) => html`<tspan x=${left} dy="16">${line}</tspan>`)}</text>
      ${!compact && node.expires && html`<${LeaseText} expires=${node.expires} skew=${skew} x=${width - 8} y=${height - 6} />`}`}
  </g>`;
}

export function titleOf(node) {
  const subject = node.subject || node.lines.join(" ").replace(/^\d+ ?/, "");
  const owner = node.owner ? `, ${node.owner}` : "";
  const waits = node.waits_for?.length ? `\nwaits for ${node.waits_for.slice(0, 20).join(", ")}${node.waits_for.length > 20 ? ", …" : ""}` : "";
  return `${node.id} ${subject}\n${STATES[node.state].name}${owner}${waits}`;
}
