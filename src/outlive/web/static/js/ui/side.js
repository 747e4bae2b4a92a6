// Something beside a view, or over it on a narrow screen.
import { html, useLayoutEffect, useRef } from "../html.js";
import { useMedia } from "./media.js";
import { Panel } from "./panel.js";

const NARROW = "(max-width: 1000px)";

export function SidePanel({ title, close, children }) {
  const narrow = useMedia(NARROW);
  const Shown = narrow ? Panel : Beside;
  return html`<${Shown} title=${title} close=${close}>${children}</${Shown}>`;
}

// Focus moves here when it opens, and back to where it was when it closes.
function Beside({ title, close, children }) {
  const heading = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    heading.current.focus({ preventScroll: true });
    return () => before?.isConnected && before.focus({ preventScroll: true });
  }, []);
  return html`<aside class="card side-panel" aria-label=${title}>
    <header class="row"><h2 class="grow clip" tabindex="-1" ref=${heading}>${title}</h2>
      <button class="button" onClick=${close}>Close</button></header>
    ${children}
  </aside>`;
}
