// Small parts that several pages use.
import { html, useEffect, useRef, useState } from "../html.js";
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

// Text to be copied with one click.
export function Copy({ text, label = "Copy" }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button class="button" onClick=${copy}>${done ? "Copied" : label}</button>`;
}

export function Tabs({ names, chosen, choose, label }) {
  const step = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const keys = Object.keys(names);
    choose(keys[(keys.indexOf(chosen) + by + keys.length) % keys.length]);
    event.currentTarget.querySelector('[aria-selected="true"]')?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${step}>
    ${Object.entries(names).map(
      ([key, name]) => html`<button
        key=${key}
        role="tab"
        aria-selected=${key === chosen}
        tabindex=${key === chosen ? 0 : -1}
        onClick=${() => choose(key)}
      >${name}</button>`,
    )}
  </div>`;
}

// A dialog of the browser's own: Esc closes it, focus stays inside and returns.
export function Panel({ title, close, children, actions, wide = false }) {
  const dialog = useRef(null);
  useEffect(() => {
    dialog.current.showModal();
    return () => dialog.current?.close();
  }, []);
  const outside = (event) => event.target === dialog.current && close();
  return html`<dialog class="panel ${wide ? "wide" : ""}" ref=${dialog} onCancel=${close} onClose=${close} onClick=${outside} aria-label=${title}>
    <header>
      <h2 class="grow clip">${title}</h2>
      ${actions}
      <button class="button" onClick=${close}>Close</button>
    </header>
    <div class="body">${children}</div>
  </dialog>`;
}
