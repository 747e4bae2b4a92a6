// Tabs: arrow keys go from one to the next.
import { html } from "../html.js";

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
