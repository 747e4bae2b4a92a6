// A memory in a row, and in a line of others.
import { html } from "../../html.js";
import { Ago, Badge } from "../../ui/parts.js";

export const TYPES = {
  user: "who the user is",
  feedback: "how to work",
  project: "what is going on",
  reference: "where to look things up",
};
export const STATES = {
  used: { name: "in use", tone: "" },
  blocked: { name: "not shown to a model", tone: "warn" },
  superseded: { name: "replaced", tone: "" },
  forgotten: { name: "forgotten", tone: "bad" },
};

export const StateBadge = ({ row }) =>
  row.state !== "used" && html`<${Badge} tone=${STATES[row.state].tone} title=${row.blocked}>${STATES[row.state].name}</${Badge}>`;

export function MemoryRow({ row, link, selected, hit = null }) {
  return html`<a class="memory-row" ...${link(row.scope, row.slug)} aria-current=${selected === `${row.scope}/${row.slug}` ? "true" : undefined}>
    <span class="row head"><b dir="auto">${row.name}</b>
      <${Badge} title=${TYPES[row.type]}>${row.type}</${Badge}>
      ${row.scope === "user" && html`<${Badge} tone="accent" title="Yours in every project">yours everywhere</${Badge}>`}
      <${StateBadge} row=${row} /></span>
    ${row.description !== row.name && html`<span class="about muted" dir="auto">${row.description}</span>`}
    ${row.blocked && html`<span class="small why">${row.blocked}</span>`}
    <span class="end small muted">${hit ? html`<${Score} hit=${hit} />` : html`<${Ago} at=${row.updated} />`}</span>
  </a>`;
}

// The score of a find, and what it comes from.
function Score({ hit }) {
  const meaning = hit.meaning === null ? "" : `, meaning ${hit.meaning.toFixed(2)}`;
  const label = `score ${hit.score.toFixed(2)}: words ${hit.words.toFixed(2)}${meaning}`;
  return html`<span class="score" title=${label}>
    <b>${hit.score.toFixed(2)}</b>
    <span>words ${hit.words.toFixed(2)}${meaning && html`<br />meaning ${hit.meaning.toFixed(2)}`}</span>
  </span>`;
}

export const MemoryLinks = ({ title, rows, link }) =>
  rows.length > 0 &&
  html`<section aria-label=${title}><h3>${title}</h3>
    <ul class="task-relations">
      ${rows.map((row) => html`<li key=${row.slug}><a ...${link(row.scope, row.slug)} dir="auto">${row.name}</a> <${StateBadge} row=${row} />
        ${row.description !== row.name && html`<span class="small muted" dir="auto"> ${row.description}</span>`}</li>`)}
    </ul></section>`;
