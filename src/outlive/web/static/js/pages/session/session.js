// A session: what was said and done, and beside it the window over time. Panels are part of the address.
import { html, useEffect, useState } from "../../html.js";
import { useData } from "../../api.js";
import { dollars, plural, short } from "../../format.js";
import { Link, useQuery } from "../../router.js";
import { Badge, Gauge } from "../../ui/parts.js";
import { Failed, Loading } from "../../ui/states.js";
import { StatusBadge } from "../sessions/status.js";
import { Conversation } from "./conversation.js";
import { ForkButton } from "./fork.js";
import { HandlePanel } from "./handle.js";
import { PassPanel } from "./pass.js";
import { SessionContext } from "./place.js";
import { useSession } from "./feed.js";
import { ViewPanel } from "./view.js";
import { WindowOverTime } from "./window.js";

export function Session({ workspace, session, about }) {
  const [query, setQuery] = useQuery();
  const base = `/api/w/${workspace}/sessions/${encodeURIComponent(session)}`;
  const feed = useSession(base, Number(query.event) || 0);
  const place = {
    base,
    workspace,
    session,
    control: about.control,
    event: Number(query.event) || 0,
    openPass: (event) => setQuery({ pass: event }),
    openHandle: (handle) => setQuery({ handle: handle.replace("@", "") }),
    openView: (request, options) => setQuery({ at: request }, options),
    showEvent: (event) => setQuery({ event, pass: "", handle: "", at: "" }),
  };
  if (feed.error && !feed.items) return html`<div class="page"><${Failed} error=${feed.error} retry=${feed.reload} /></div>`;
  return html`<${SessionContext.Provider} value=${place}>
    <div class="page session-page">
      <${Head} base=${base} feed=${feed} workspace=${workspace} />
      <div class="session-grid">
        <section class="talk card" aria-label="Conversation">
          ${feed.items
            ? html`<${Conversation} feed=${feed} event=${place.event} />`
            : html`<${Loading} what="Reading the log" />`}
          <${ComposerSlot} workspace=${workspace} session=${session} about=${about} lastEvent=${feed.lastEvent} />
        </section>
        <aside class="window card" aria-label="The window over time">
          <${WindowOverTime} feed=${feed} at=${Number(query.at) || 0} />
        </aside>
      </div>
      ${query.at && feed.columns && html`<${ViewPanel} request=${Number(query.at)} feed=${feed} close=${() => setQuery({ at: "" })} />`}
      ${query.pass && html`<${PassPanel} event=${Number(query.pass)} key=${query.pass} feed=${feed} close=${() => setQuery({ pass: "" })} />`}
      ${query.handle && html`<${HandlePanel} handle=${query.handle} key=${query.handle} close=${() => setQuery({ handle: "" })} />`}
    </div>
  </${SessionContext.Provider}>`;
}

function Head({ base, feed, workspace }) {
  const summary = useData(`${base}/summary`);
  useEffect(() => {
    if (feed.lastEvent) summary.reload();
  }, [feed.lastEvent]);
  const known = summary.data;
  const info = known?.info;
  return html`<header class="session-head">
    <div class="row">
      <${Link} to=${`/w/${workspace}/sessions`} class="muted small">Sessions</${Link}>
      ${info?.forked_from &&
      html`<${Link} class="small" to=${`/w/${workspace}/sessions/${encodeURIComponent(info.forked_from)}`}>fork of ${info.forked_from}</${Link}>`}
      <span class="muted small mono clip">${info?.id}</span>
    </div>
    <div class="row">
      <h1 class="grow clip">${known?.goal || info?.title || (known ? "(nothing was said yet)" : "…")}</h1>
      ${known && html`<${StatusBadge} status=${known.status} />`}
      ${!feed.online && html`<${Badge} tone="warn" pulse=${true}>reconnecting</${Badge}>`}
      <${ForkButton} at=${0} label="Fork" />
    </div>
    <div class="row small muted facts">
      ${known &&
      html`<span>${known.model || "model not known"}</span>
        <span class="row">
          ${known.window > 0 && html`<${Gauge} value=${known.context} most=${known.window} />`}
          ${short(known.context)} ${known.window ? `of ${short(known.window)}` : ""} tokens
        </span>
        <span>${plural(known.requests, "request")}</span>
        <span>${plural(known.passes, "pass", "passes")}</span>
        <span>${dollars(known.cost)}</span>`}
    </div>
  </header>`;
}

// The place of the composer, which is loaded only where the page may talk.
function ComposerSlot({ about, ...props }) {
  const [Composer, setComposer] = useState(null);
  useEffect(() => {
    if (about.control) import("../talk/composer.js").then((module) => setComposer(() => module.Composer), () => {});
  }, [about.control]);
  return Composer && html`<${Composer} about=${about} ...${props} />`;
}
