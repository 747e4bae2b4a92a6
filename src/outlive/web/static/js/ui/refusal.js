// What the server refused, in its own words.
import { html } from "../html.js";

export const Refusal = ({ error, children }) =>
  error &&
  html`<div class="refusal" role="alert">
    <p><b>${error.message}</b></p>
    ${error.hint && html`<p>${error.hint}</p>`}
    ${children}
  </div>`;
