// A field for words to the agent: Enter sends, Shift+Enter begins a line.
import { html, useLayoutEffect, useRef } from "../../html.js";

const TALLEST = 260; // pixels

export function WordsField({ value, change, send, label, placeholder, rows = 2, focused = false }) {
  const field = useRef(null);
  useLayoutEffect(() => {
    field.current.style.height = "auto";
    field.current.style.height = `${Math.min(field.current.scrollHeight + 2, TALLEST)}px`;
  }, [value]);
  useLayoutEffect(() => {
    if (focused) field.current.focus({ preventScroll: true });
  }, []);
  const keys = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (value.trim()) send();
  };
  return html`<textarea class="field words" ref=${field} rows=${rows} aria-label=${label} placeholder=${placeholder} dir="auto"
    value=${value} onInput=${(event) => change(event.target.value)} onKeyDown=${keys}></textarea>`;
}

export const Problem = ({ error, dismiss }) => html`<div class="problem" role="alert">
  <div class="grow">
    <p class="lines">${error.message}</p>
    ${error.hint && html`<p class="small lines">${error.hint}</p>`}
  </div>
  <button class="button plain" aria-label="Dismiss" onClick=${dismiss}>✕</button>
</div>`;
