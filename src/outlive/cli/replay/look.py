"""Style sheet and script of the page. Nothing is loaded from the network."""

STYLE = """
:root { color-scheme: light dark; --paper: #fcfcfb; --card: #ffffff; --ink: #1c1c1a; --soft: #6b6a66; --rule: #e4e3de;
  --window: #b42318; --system: #b5b3ac; --digest: #8f84dc; --user: #e3b23c; --assistant: #74b7df; --calls: #3d74c6;
  --results: #3a9a68; --shrunk: #a8d9bc; --state: #d65d8d; --ours: #2c8a5a; --plain: #a8a6a0; }
@media (prefers-color-scheme: dark) { :root { --paper: #161615; --card: #1f1f1d; --ink: #ecebe7; --soft: #9c9a94;
  --rule: #34332f; --window: #f97066; --system: #6b6a66; --digest: #8d82d6; --user: #d3a638; --assistant: #62a9d4;
  --calls: #4476c2; --results: #3d9e6d; --shrunk: #24573f; --state: #d3628f; --ours: #4fbb86; --plain: #8a8882; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI",
  sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 1080px; margin: 0 auto; padding: 36px 24px 64px; }
h1 { font-size: 22px; margin: 0 0 2px; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0 0 10px; }
p.about { color: var(--soft); margin: 0 0 22px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px; margin-bottom: 16px; }
.tile, section { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px; }
.tile b { display: block; font-size: 26px; line-height: 1.2; letter-spacing: -.02em; }
.tile span { color: var(--soft); font-size: 13px; }
section { margin-bottom: 16px; padding: 16px 18px; position: relative; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-size: 11.5px; fill: var(--soft); }
.tick, .last, .end { text-anchor: end; }
.grid { stroke: var(--rule); stroke-width: 1; }
.window { stroke: var(--window); stroke-width: 1.2; stroke-dasharray: 6 4; }
svg .window-label { fill: var(--window); paint-order: stroke; stroke: var(--card); stroke-width: 4px; }
.pass { stroke: var(--ink); stroke-width: .8; stroke-dasharray: 1.5 3; opacity: .5; }
.mark { fill: var(--ink); }
.cursor { stroke: var(--ink); stroke-width: 1; opacity: 0; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.line.ours { stroke: var(--ours); } .line.plain { stroke: var(--plain); stroke-dasharray: 5 4; }
svg .end { font-weight: 600; } svg .end.ours { fill: var(--ours); } svg .end.plain { fill: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; color: var(--soft); margin-top: 8px; }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; }
.tip { position: absolute; pointer-events: none; background: var(--card); border: 1px solid var(--rule); z-index: 1;
  padding: 8px 11px; border-radius: 8px; font-size: 12.5px; box-shadow: 0 6px 24px rgb(0 0 0 / .16); display: none;
  min-width: 150px; }
.tip div { display: flex; justify-content: space-between; gap: 18px; } .tip b { font-weight: 600; }
details { border-top: 1px solid var(--rule); } details:first-of-type { border-top: 0; }
summary { display: grid; grid-template-columns: 9.5em 6.5em 11em 1fr; gap: 10px; padding: 8px 2px; cursor: pointer;
  list-style: none; align-items: baseline; }
summary::-webkit-details-marker { display: none; }
summary span:first-child::before { content: "›"; display: inline-block; width: 1em; color: var(--soft); }
details[open] summary span:first-child::before { transform: rotate(90deg); }
summary:hover { background: color-mix(in srgb, var(--rule) 35%, transparent); }
summary .why, summary .more { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: 13px; margin: 2px 0 14px; }
td, th { text-align: left; padding: 3px 10px 3px 2px; border-top: 1px solid var(--rule); vertical-align: top; }
th { color: var(--soft); font-weight: 500; border-top: 0; } td.n, th.n { text-align: right; white-space: nowrap; }
code { font: 12.5px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
footer { color: var(--soft); font-size: 13px; }
@media (max-width: 640px) { summary { grid-template-columns: 1fr 1fr; } main { padding: 20px 12px; } }
"""

SCRIPT = """
const data = JSON.parse(document.getElementById("turns").textContent);
const chart = document.getElementById("sizes"), tip = document.querySelector(".tip");
const cursor = chart.querySelector(".cursor"), count = data.turns.length;
const number = value => value.toLocaleString("en");
chart.addEventListener("pointermove", event => {
  const box = chart.getBoundingClientRect(), scale = box.width / data.width;
  const place = ((event.clientX - box.left) / scale - data.left) / (data.width - data.left - data.right);
  const at = Math.floor(place * count);
  if (at < 0 || at >= count) { hide(); return; }
  const turn = data.turns[at], x = data.left + (at + .5) / count * (data.width - data.left - data.right);
  cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); cursor.style.opacity = .6;
  tip.innerHTML = `<b>before message ${turn[0]}</b><div><span>total</span><b>${number(turn[1])}</b></div>` +
    data.kinds.map((kind, i) => turn[2][i] ? `<div><span>${kind}</span><span>${number(turn[2][i])}</span></div>` : "")
      .reverse().join("");
  tip.style.display = "block";
  const left = (box.left - chart.parentElement.getBoundingClientRect().left) + x * scale;
  tip.style.left = (left > box.width / 2 ? left - tip.offsetWidth - 14 : left + 14) + "px";
  tip.style.top = "64px";
});
function hide() { tip.style.display = "none"; cursor.style.opacity = 0; }
chart.addEventListener("pointerleave", hide);
"""
