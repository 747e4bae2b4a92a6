// Tells on every page that the server is gone, or that this browser is signed out.
import { html } from "../html.js";
import { useStatus } from "../stream/connection.js";

const TEXTS = {
  offline: ["The server does not answer.", "Trying again. Is outlive web still running? What you see may be out of date."],
  busy: ["The server has too many connections.", "Close some tabs; this page tries again."],
  "signed-out": ["This browser is signed out.", "Open the address that outlive web printed last to sign in again."],
};

export function Banner() {
  const text = TEXTS[useStatus()];
  return html`<div class="banner-place" role="status">${text && html`<p class="banner"><b>${text[0]}</b> ${text[1]}</p>`}</div>`;
}
