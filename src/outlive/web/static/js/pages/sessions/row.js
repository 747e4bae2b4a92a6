// A session in one row.
import { html } from "../../html.js";
import { dollars, plural, short } from "../../format.js";
import { Link } from "../../router.js";
import { Ago, Gauge } from "../../ui/parts.js";
import { StatusBadge } from "./status.js";

// `place` names the workspace where several are listed.
export function SessionRow({ workspace, listed: { info, summary: known }, place = "" }) {
  const title = known?.goal || info.title || known?.title;
  return html`<${Link} to=${`/w/${workspace}/sessions/${encodeURIComponent(info.id)}`} class="session-row">
    <span class="status">${known && html`<${StatusBadge} status=${known.status} />`}</span>
    <span class="grow stack">
      <b class="clip" dir="auto">${title || "(nothing was said yet)"}</b>
      <span class="clip muted small" dir="auto">${place && html`<b>${place}</b> `}${known?.action || " "}</span>
    </span>
    <span class="facts small muted">${known ? html`<${Facts} known=${known} />` : null}<${Ago} at=${info.updated} /></span>
  </${Link}>`;
}

const Facts = ({ known: { context, window, passes, cost } }) => html`
  <span class="context">
    ${context > 0 && window > 0 && html`<${Gauge} value=${context} most=${window} />`}
    ${context > 0 ? `${short(context)}${window ? "" : " tokens"}` : ""}
  </span>
  <span>${passes ? plural(passes, "pass", "passes") : ""}</span>
  <span>${dollars(cost)}</span>`;
