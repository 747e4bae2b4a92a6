// Texts whose fate the lesson follows: in the window, behind a handle, or in another session.
import { html } from "../../../html.js";
import { Badge } from "../../../ui/parts.js";

export const PLACES = {
  window: ["good", "in the window"],
  handle: ["warn", "left; a handle leads to it"],
  log: ["warn", "left; a search finds it"],
  elsewhere: ["bad", "only in the first agent's log"],
  unsaid: ["", "not said yet"],
};

export const Place = ({ where }) => html`<${Badge} tone=${PLACES[where][0]}>${PLACES[where][1]}</${Badge}>`;

export const Facts = ({ facts, recall }) => html`<section class="card pad stack" aria-label="Where is it now?">
  <h2>Where is it now?</h2>
  <ul class="learn-facts">
    ${facts.map(
      (fact) => html`<li key=${fact.key} >
        <span class="grow"><b>${fact.what}</b><code class="clip">${fact.text}</code></span>
        <${Place} where=${fact.where} />
        <span class="learn-handles">
          ${fact.handles.slice(-1).map((handle) => html`<button key=${handle} class="button small" onClick=${() => recall(handle)} aria-label=${`Recall ${handle}: ${fact.what}`}>${handle}</button>`)}
        </span>
      </li>`,
    )}
  </ul>
</section>`;
