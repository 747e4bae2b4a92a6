// A lease clock inside of a picture.
import { html, useEffect, useState } from "../../../html.js";
import { clock } from "../clock.js";

export function LeaseText({ expires, skew, x, y }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((number) => number + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = Math.ceil(expires - skew - Date.now() / 1000);
  return html`<text class="lease ${left <= 0 ? "out" : ""}" x=${x} y=${y} text-anchor="end">${left > 0 ? clock(left) : "ran out"}</text>`;
}
