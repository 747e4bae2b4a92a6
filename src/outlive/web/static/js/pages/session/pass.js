// A pass: its receipt, before and after, what left, and why lines were kept.
import { html, useState } from "../../html.js";
import { post, useData } from "../../api.js";
import { moment } from "../../format.js";
import { Panel } from "../../ui/panel.js";
import { Badge } from "../../ui/parts.js";
import { Tabs } from "../../ui/tabs.js";
import { Loaded } from "../../ui/states.js";
import { Compared } from "./compared.js";
import { KeptLines } from "./kept.js";
import { Handles, Left } from "./left.js";
import { usePlace } from "./place.js";
import { Receipt } from "./receipt.js";

const TABS = { receipt: "Receipt", compared: "Before and after", left: "What left", kept: "Why lines stayed", handles: "Handles" };
const REASONS = {
  pressure: "The window was filling up.",
  cold: "The cache had expired, so a pass cost nearly nothing.",
  limit: "The request did not fit.",
  asked: "It was asked for.",
  refused: "The provider refused the request as too long.",
  arrival: "Something large arrived; it is shown as a preview.",
  summary: "The provider wrote a summary.",
};

export function PassPanel({ event, feed, close }) {
  const { base } = usePlace();
  const [tab, setTab] = useState("receipt");
  const found = useData(`${base}/passes/${event}`);
  const actions = found.data?.newest && html`<${UndoButton} event=${event} done=${found.reload} />`;
  return html`<${Panel} title=${`Pass of event ${event}`} close=${close} actions=${actions} wide=${true}>
    <${Loaded} from=${found} what="Replaying the log up to this pass">
      ${(data) => html`<div class="stack">
        <p class="row">
          ${data.undone && html`<${Badge} tone="warn">taken back</${Badge}>`}
          <b class="number">${data.receipt.before.toLocaleString("en")} → ${data.receipt.after.toLocaleString("en")} tokens</b>
          <span class="mono">${data.receipt.rungs.join(" + ")}</span>
          <span class="muted">${REASONS[data.receipt.reason] ?? data.receipt.reason} ${moment(data.time)}</span>
        </p>
        <${Tabs} names=${TABS} chosen=${tab} choose=${setTab} label="Parts of the pass" />
        <div role="tabpanel" aria-label=${TABS[tab]} class="pass-tab">
          ${tab === "receipt" && html`<${Receipt} data=${data} />`}
          ${tab === "compared" && html`<${Compared} event=${event} />`}
          ${tab === "left" && html`<${Left} data=${data} />`}
          ${tab === "kept" && html`<${KeptLines} event=${event} />`}
          ${tab === "handles" && html`<${Handles} handles=${data.receipt.handles} />`}
        </div>
      </div>`}
    </${Loaded}>
  </${Panel}>`;
}

function UndoButton({ event, done }) {
  const { base, control } = usePlace();
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  if (!control) return null;
  const undo = async () => {
    setBusy(true);
    try {
      await post(`${base}/undo`, { pass: event });
      setError(null);
      done();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return html`${error && html`<span class="notice bad small" role="alert">${error.message} ${error.hint}</span>`}
    <button class="button danger" disabled=${busy} onClick=${undo}>Undo this pass</button>`;
}
