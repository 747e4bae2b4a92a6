// Markdown of models as elements: headings, lists, emphasis, code, tables. Every piece of text stays a text node, and
// an address is shown as text, because it comes from a model.
import { html } from "../html.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const BULLET = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])( *\1){2,}\s*$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const INLINE = /(`+)(?!`)([^\n]{0,2000}?[^`\n])\1(?!`)|\*\*(?=\S)([^\n]{0,2000}?\S)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]{0,2000}?[^\s*])\*(?![\w*])|\[([^\]\n]{1,500})\]\(([^)\s]{1,2000})\)/;
const LONGEST = 60_000; // characters; a longer text is shown as it is

// `inline` renders a piece of plain text, for instance with handles that can be clicked.
export function Markdown({ text, inline = (plain) => plain }) {
  if (text.length > LONGEST) return html`<div class="prose">${inline(text)}</div>`;
  return html`<div class="markdown">${blocks(text.split("\n")).map((block, at) => html`<${Block} key=${at} block=${block} inline=${inline} />`)}</div>`;
}

function Block({ block, inline }) {
  const spans = (text) => inlines(text, inline);
  switch (block.kind) {
    case "code":
      return html`<pre class="code" tabindex="0">${block.text}</pre>`;
    case "heading":
      return html`<p class=${`heading level-${Math.min(block.level, 4)}`} dir="auto">${spans(block.text)}</p>`;
    case "rule":
      return html`<hr />`;
    case "list":
      return html`<${List} items=${block.items} spans=${spans} />`;
    case "quote":
      return html`<blockquote dir="auto">${spans(block.text)}</blockquote>`;
    case "table":
      return html`<div class="scroll-x" tabindex="0"><table>
        <thead><tr>${block.rows[0].map((cell, at) => html`<th key=${at}>${spans(cell)}</th>`)}</tr></thead>
        <tbody>${block.rows.slice(1).map((row, at) => html`<tr key=${at}>${row.map((cell, column) => html`<td key=${column}>${spans(cell)}</td>`)}</tr>`)}</tbody>
      </table></div>`;
    default:
      return html`<p class="prose" dir="auto">${spans(block.text)}</p>`;
  }
}

const List = ({ items, spans }) => html`<ul class="list">
  ${items.map(
    ({ depth, mark, text }, at) => html`<li key=${at} dir="auto" style=${{ marginInlineStart: `${depth * 18}px` }}>
      <span class="list-mark" aria-hidden="true">${/\d/.test(mark) ? mark : "•"}</span><span>${spans(text)}</span>
    </li>`,
  )}
</ul>`;

function blocks(lines) {
  const found = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = line.match(FENCE);
    if (fence) {
      let end = at + 1;
      while (end < lines.length && !(lines[end].trim().startsWith(fence[1]) && !lines[end].trim().slice(fence[1].length).trim())) end++;
      found.push({ kind: "code", text: lines.slice(at + 1, end).join("\n") });
      at = end + 1;
    } else if (!line.trim()) {
      at++;
    } else if (HEADING.test(line)) {
      const [, marks, text] = line.match(HEADING);
      found.push({ kind: "heading", level: marks.length, text });
      at++;
    } else if (RULE.test(line)) {
      found.push({ kind: "rule" });
      at++;
    } else if (line.includes("|") && DIVIDER.test(lines[at + 1] ?? "") && lines[at + 1].includes("-")) {
      let end = at + 2;
      while (end < lines.length && lines[end].includes("|")) end++;
      found.push({ kind: "table", rows: [line, ...lines.slice(at + 2, end)].map(cells) });
      at = end;
    } else {
      const kind = BULLET.test(line) ? "list" : line.startsWith(">") ? "quote" : "text";
      let end = at + 1;
      while (end < lines.length && lines[end].trim() && !startsBlock(lines[end], kind)) end++;
      found.push(kind === "list" ? { kind, items: listItems(lines.slice(at, end)) } : { kind, text: lines.slice(at, end).map((one) => (kind === "quote" ? one.replace(/^>\s?/, "") : one)).join("\n") });
      at = end;
    }
  }
  return found;
}

const startsBlock = (line, kind) =>
  FENCE.test(line) || HEADING.test(line) || RULE.test(line) || (kind !== "list" && BULLET.test(line)) || (kind === "text" && line.startsWith(">"));

// A line that is not an item goes on with the item before it.
function listItems(lines) {
  const items = [];
  for (const line of lines) {
    const found = line.match(BULLET);
    if (found) items.push({ depth: Math.min(6, Math.floor(found[1].replace(/\t/g, "    ").length / 2)), mark: found[2], text: found[3] });
    else items.at(-1).text += `\n${line.trim()}`;
  }
  return items;
}

const cells = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());

function inlines(text, inline) {
  const shown = [];
  let rest = text;
  for (let found = rest.match(INLINE); found; found = rest.match(INLINE)) {
    if (found.index) shown.push(inline(rest.slice(0, found.index)));
    rest = rest.slice(found.index + found[0].length);
    const [, ticks, code, strong, soft, label, address] = found;
    if (ticks) shown.push(html`<code>${code}</code>`);
    else if (strong) shown.push(html`<b>${inlines(strong, inline)}</b>`);
    else if (soft) shown.push(html`<i>${inlines(soft, inline)}</i>`);
    else shown.push(html`<span>${label} <span class="muted address">(${address})</span></span>`);
  }
  if (rest) shown.push(inline(rest));
  return shown;
}
