// A pass in the conversation.
import { html } from "../../html.js";
import { plural } from "../../format.js";
import { usePlace } from "./place.js";

const REASONS = { refused: "provider refused the request", limit: "did not fit", cold: "cache expired", asked: "asked for" };

export function PassCard({ item }) {
  const { openPass } = usePlace();
  const { rungs, reason, before, after, folded, shrunk, handles } = item.facts;
  const share = before ? Math.round((1 - after / before) * 100) : 0;
  return html`<button class="pass-card" onClick=${() => openPass(item.id)}>
    <b>Pass</b> <span class="mono">${rungs.join(" + ")}</span> <span class="muted">${REASONS[reason] ?? reason}</span>
    <span class="number">${before.toLocaleString("en")} → ${after.toLocaleString("en")} tokens (−${share}%)</span>
    <span class="muted">${folded} folded, ${shrunk} shrunk, ${plural(handles, "handle")}</span>
  </button>`;
}
