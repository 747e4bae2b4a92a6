// What a page shows when there is nothing, not yet, or something went wrong.
import { html } from "../html.js";

export const Loading = ({ what = "Loading" }) => html`<div class="loading" role="status">${what} …</div>`;

export const Empty = ({ title, children }) => html`<div class="card empty"><h2>${title}</h2>${children}</div>`;

export function Failed({ error, retry }) {
  return html`<div class="card failed" role="alert">
    <h2>${error.message}</h2>
    ${error.hint && html`<p>${error.hint}</p>`}
    ${retry && html`<button class="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

// Shows the data of `useData`, or why there is none yet.
export function Loaded({ from, what, children }) {
  if (from.data !== null) return children(from.data);
  if (from.error) return html`<${Failed} error=${from.error} retry=${from.reload} />`;
  return html`<${Loading} what=${what} />`;
}
