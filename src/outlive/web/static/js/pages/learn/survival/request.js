// The request as it would be sent now, message by message; handles in it can be clicked.
import { html, useState } from "../../../html.js";
import { useData } from "../../../api.js";
import { Loaded } from "../../../ui/states.js";
import { path } from "../scratch.js";

const HANDLE = /(@h\d+)/;

export function RequestView({ used, recall, opened }) {
  const [open, setOpen] = useState(false);
  const toggle = (event) => {
    setOpen(event.currentTarget.open);
    if (event.currentTarget.open) opened();
  };
  return html`<details class="card pad learn-request-view" onToggle=${toggle}>
    <summary>What the model would read now <span class="muted small">(${used.toLocaleString("en")} tokens)</span></summary>
    ${open && html`<${Messages} recall=${recall} />`}
  </details>`;
}

function Messages({ recall }) {
  const found = useData(path("survival/request"));
  return html`<${Loaded} from=${found} what="Reading the request">
    ${({ messages }) => html`<ol class="learn-messages">
      ${messages.map((message, at) => html`<li key=${at} class=${`from-${message.role}`}>
        <b class="small">${{ system: "Instructions", user: "To the model", assistant: "The agent" }[message.role]}</b>
        ${message.parts.map((part, number) => html`<${Part} key=${number} part=${part} recall=${recall} />`)}
      </li>`)}
    </ol>`}
  </${Loaded}>`;
}

function Part({ part, recall }) {
  const [whole, setWhole] = useState(false);
  const long = part.text.length > 700 && !whole;
  const text = long ? `${part.text.slice(0, 500)}\n` : part.text;
  const pieces = text.split(HANDLE).map((piece, at) =>
    at % 2 ? html`<button key=${at} class="learn-handle" onClick=${() => recall(piece)}>${piece}</button>` : piece,
  );
  return html`<div class=${`learn-part is-${part.kind}`}>
    <pre>${part.kind === "call" ? "→ " : ""}${pieces}</pre>
    ${long && html`<button class="button small" onClick=${() => setWhole(true)}>Show all ${part.length.toLocaleString("en")} characters</button>`}
  </div>`;
}
