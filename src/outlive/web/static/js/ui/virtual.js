// A long list of which only what is in view is in the document. Rows may have any height; they are measured.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";

const BEYOND = 800; // pixels drawn before and after what is visible

export function VirtualList({ count, row, keyOf, estimate = 60, label, follow = false }) {
  const outer = useRef(null);
  const heights = useRef(new Map());
  const [range, setRange] = useState([0, Math.min(count, 30)]);
  const atEnd = useRef(true);

  const heightOf = (at) => heights.current.get(keyOf(at)) ?? estimate;

  // After drawing, the range only grows: heights that were just measured must not make it swing to and fro.
  const measure = (grow) => {
    if (!outer.current) return;
    const top = outer.current.getBoundingClientRect().top;
    let y = top;
    let first = 0;
    while (first < count && y + heightOf(first) < -BEYOND) y += heightOf(first++);
    let last = first;
    while (last < count && y < innerHeight + BEYOND) y += heightOf(last++);
    setRange((old) => {
      const [from, to] = grow === true && first <= old[1] && old[0] <= last ? [Math.min(first, old[0]), Math.max(last, old[1])] : [first, last];
      return old[0] === from && old[1] === to ? old : [from, to];
    });
    atEnd.current = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
  };

  useEffect(() => {
    addEventListener("scroll", measure, { passive: true, capture: true }); // a panel may scroll, too
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", measure, { capture: true });
      removeEventListener("resize", measure);
    };
  });

  useLayoutEffect(() => {
    for (const element of outer.current.querySelectorAll(":scope > [data-at]")) {
      heights.current.set(keyOf(Number(element.dataset.at)), element.offsetHeight);
    }
    measure(true);
  });

  useLayoutEffect(() => {
    if (follow && atEnd.current) scrollTo(0, document.documentElement.scrollHeight);
  }, [count, follow]);

  const [first, last] = range;
  let before = 0;
  for (let at = 0; at < first; at++) before += heightOf(at);
  let after = 0;
  for (let at = last; at < count; at++) after += heightOf(at);
  const shown = [];
  for (let at = first; at < Math.min(last, count); at++) {
    shown.push(html`<div key=${keyOf(at)} data-at=${at} role="listitem">${row(at)}</div>`);
  }
  return html`<div ref=${outer} role="list" aria-label=${label}>
    <div style=${{ height: `${before}px` }}></div>
    ${shown}
    <div style=${{ height: `${after}px` }}></div>
  </div>`;
}
