// A dialog of the browser's own: Esc closes it, focus stays inside and returns.
import { html, useEffect, useRef } from "../html.js";

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
