// The head of a session's page: what it is about, what it does now, how full its window is, what it cost.
import { html, useEffect } from "../../html.js";
import { dollars, plural, short } from "../../format.js";
import { Link } from "../../router.js";
import { useStatus } from "../../stream/connection.js";
import { setTitle } from "../../title.js";
import { Badge, Gauge } from "../../ui/parts.js";
import { StatusBadge } from "../sessions/status.js";
import { ForkButton } from "./fork.js";

export function Head({ known, workspace, gauge }) {
  const online = useStatus() === "online";
  const info = known?.info;
  const title = known?.goal || info?.title || known?.title || (known ? "(nothing was said yet)" : "…");
  useEffect(() => {
    if (known) setTitle(title);
  }, [known, title]);
  return html`<header class="session-head">
    <div class="row">
      <${Link} to=${`/w/${workspace}/sessions`} class="muted small">Sessions</${Link}>
      ${info?.forked_from &&
      html`<${Link} class="small" to=${`/w/${workspace}/sessions/${encodeURIComponent(info.forked_from)}`}><bdi>fork of ${info.forked_from}</bdi></${Link}>`}
      <span class="muted small mono clip">${info?.id}</span>
    </div>
    <div class="row">
      <h1 class="grow clip" dir="auto" title=${title}>${title}</h1>
      ${known && html`<${StatusBadge} status=${known.status} />`}
      ${!online && html`<${Badge} tone="warn" pulse=${true}>reconnecting</${Badge}>`}
      <${ForkButton} at=${0} label="Fork" />
    </div>
    <div class="row small muted facts">${known && html`<${Facts} known=${known} gauge=${gauge} />`}</div>
  </header>`;
}

// The agent that is open here knows its window best.
function Facts({ known, gauge }) {
  const used = gauge?.used || known.context;
  const window = gauge?.window || known.window;
  return html`<span>${known.model || "model not known"}</span>
    <span class="row">
      ${window > 0 && html`<${Gauge} value=${used} most=${window} />`}
      ${short(used)} ${window ? `of ${short(window)}` : ""} tokens
    </span>
    <span>${plural(known.requests, "request")}</span>
    <span>${plural(known.passes, "pass", "passes")}</span>
    <span>${dollars(known.cost)}</span>`;
}
