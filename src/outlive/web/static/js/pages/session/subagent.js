// A sub-agent: its own session, nested.
import { html, useEffect, useState } from "../../html.js";
import { get } from "../../api.js";
import { Link, navigate } from "../../router.js";
import { Details } from "../../ui/details.js";
import { Failed, Loading } from "../../ui/states.js";
import { StatusBadge } from "../sessions/status.js";
import { Item } from "./item.js";
import { SessionContext, usePlace } from "./place.js";

const LOOK = 2000; // milliseconds between two looks at one that works

export function Subagent({ session, description }) {
  const { workspace } = usePlace();
  return html`<${Details} class="subagent" title=${html`<b>Sub-agent</b> <span class="clip grow">${description || session}</span>`}>
    ${() => html`<${Nested} workspace=${workspace} session=${session} />`}
  </${Details}>`;
}

function Nested({ workspace, session }) {
  const outer = usePlace();
  const base = `/api/w/${workspace}/sessions/${encodeURIComponent(session)}`;
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    let timer = 0;
    let ended = false;
    const look = async () => {
      try {
        const [{ page }, summary] = await Promise.all([get(`${base}/items?limit=40`), get(`${base}/summary`)]);
        if (ended) return;
        setFound({ page, summary });
        if (["working", "approval"].includes(summary.status)) timer = setTimeout(look, LOOK);
      } catch (problem) {
        if (!ended) setError(problem);
      }
    };
    look();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [base]);
  if (error) return html`<${Failed} error=${error} />`;
  if (!found) return html`<${Loading} />`;
  const to = `/w/${workspace}/sessions/${encodeURIComponent(session)}`;
  const place = {
    ...outer,
    base,
    session,
    control: false,
    dead: ["interrupted", "stopped"].includes(found.summary.status),
    openPass: (event) => navigate(`${to}?pass=${event}`),
    openHandle: (handle) => navigate(`${to}?handle=${handle.replace("@", "")}`),
  };
  return html`<${SessionContext.Provider} value=${place}>
    <div class="nested">
      <p class="row small">
        <${StatusBadge} status=${found.summary.status} />
        <${Link} to=${to}>Open its page</${Link}>
        ${found.page.older > 0 && html`<span class="muted">${found.page.older} older items are there</span>`}
      </p>
      ${found.page.items.map((item) => html`<${Item} key=${item.id} item=${item} />`)}
    </div>
  </${SessionContext.Provider}>`;
}
