// Small parts that several pages use.
import { html, useEffect, useState } from "../html.js";
import { ago, moment, percent, short } from "../format.js";

export const PageHead = ({ title, about, children }) => html`
  <header class="page-head">
    <h1>${title}</h1>
    ${children && html`<div class="actions">${children}</div>`}
    ${about && html`<p class="about">${about}</p>`}
  </header>
`;

export const Badge = ({ tone = "", pulse = false, children, title }) =>
  html`<span class="badge ${tone} ${pulse ? "pulse" : ""}" title=${title}>${children}</span>`;

// "5 min. ago", with the exact time on hover; counts on by itself.
export function Ago({ at }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((number) => number + 1), 15_000);
    return () => clearInterval(timer);
  }, []);
  return html`<time datetime=${at ? new Date(at * 1000).toISOString() : ""} title=${moment(at)}>${ago(at)}</time>`;
}

export function Gauge({ value, most }) {
  const share = most ? Math.min(value / most, 1) : 0;
  const label = most ? `${short(value)} of ${short(most)} tokens (${percent(share)})` : `${short(value)} tokens`;
  return html`<span class="gauge" role="img" aria-label=${label} title=${label}>
    <i style=${{ width: `${share * 100}%` }}></i>
  </span>`;
}
