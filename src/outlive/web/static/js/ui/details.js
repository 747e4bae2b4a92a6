// Something that can be opened. What is inside is made when it is first opened.
import { html, useState } from "../html.js";

export function Details({ title, children, open = false, class: name = "" }) {
  const [shown, setShown] = useState(open);
  return html`<details class=${`fold ${name}`} open=${open} onToggle=${(event) => event.currentTarget.open && setShown(true)}>
    <summary>${title}</summary>
    ${shown && html`<div class="fold-body">${children()}</div>`}
  </details>`;
}
