// The picture itself: paths and boxes, and over it what is lit. Drawn again only when what it shows has changed.
import { html } from "../../../html.js";
import { Box } from "./boxes.js";

const MOST_PATHS = 1500; // above it, edges of a kind are one path, without arrow heads

export function Scene({ layout, byId, critical, region, far, skew }) {
  const chain = new Set(critical.slice(1).map((id, at) => `${critical[at]} ${id}`));
  const inChain = new Set(critical);
  return html`<g class="scene">
    <${Edges} layout=${layout} byId=${byId} chain=${chain} />
    ${boxesIn(layout, byId, region).map(
      ({ node, x, y }) => html`<${Box} key=${node.id} node=${node} x=${x} y=${y} width=${layout.box[0]} height=${layout.box[1]}
        far=${far} compact=${layout.compact} skew=${skew} mark=${inChain.has(node.id) ? "critical" : ""} />`,
    )}
  </g>`;
}

// Boxes of `ids` and the edges between them, to be drawn over a dimmed scene.
export function Lit({ layout, byId, ids, ready, chosen, far, skew }) {
  return html`<g class="lit">
    ${layout.edges.map(([from, to, path]) => ids.has(from) && ids.has(to) && html`<path key=${`${from} ${to}`} class="edge lit" d=${path}></path>`)}
    ${layout.boxes.map(([id, x, y]) => {
      if (!ids.has(id) || !byId.has(id)) return null;
      const mark = id === chosen ? "chosen" : ready.has(id) ? "becomes-ready" : "waits";
      return html`<${Box} key=${id} node=${byId.get(id)} x=${x} y=${y} width=${layout.box[0]} height=${layout.box[1]}
        far=${far} compact=${layout.compact} skew=${skew} mark=${mark} />`;
    })}
  </g>`;
}

function boxesIn(layout, byId, region) {
  const [width, height] = layout.box;
  const found = [];
  for (const [id, x, y] of layout.boxes) {
    const inside = x + width >= region.left && x <= region.right && y + height >= region.top && y <= region.bottom;
    if (inside && byId.has(id)) found.push({ node: byId.get(id), x, y });
  }
  return found;
}

function Edges({ layout, byId, chain }) {
  const closing = new Set(layout.closing.map(([from, to]) => `${from} ${to}`));
  const kinds = { done: [], open: [], closing: [], critical: [] };
  for (const [from, to, path] of layout.edges) {
    const key = `${from} ${to}`;
    const finished = ["completed", "cancelled"].includes(byId.get(from)?.state);
    kinds[chain.has(key) ? "critical" : closing.has(key) ? "closing" : finished ? "done" : "open"].push([key, path]);
  }
  const together = layout.edges.length > MOST_PATHS;
  return Object.entries(kinds).map(([kind, paths]) =>
    together
      ? paths.length > 0 && html`<path key=${kind} class="edge ${kind} thin" d=${paths.map(([, path]) => path).join("")}></path>`
      : paths.map(([key, path]) => html`<path key=${key} class="edge ${kind}" marker-end="url(#arrow-${kind})" d=${path}></path>`),
  );
}
