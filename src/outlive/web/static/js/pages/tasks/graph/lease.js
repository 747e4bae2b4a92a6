// A lease clock inside of a picture.
import { html } from "../../../html.js";
import { clock, useNow } from "../clock.js";

export function LeaseText({ expires, skew, x, y }) {
  const left = Math.ceil(expires - skew - useNow());
  return html`<text class="lease ${left <= 0 ? "out" : ""}" x=${x} y=${y} text-anchor="end">${left > 0 ? `lease ${clock(left)}` : "lease ran out"}</text>`;
}
