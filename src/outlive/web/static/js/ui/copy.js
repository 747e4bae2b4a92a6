// Text to be copied with one click.
import { html, useState } from "../html.js";

export function Copy({ text, label = "Copy" }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button class="button" onClick=${copy}>${done ? "Copied" : label}</button>`;
}
