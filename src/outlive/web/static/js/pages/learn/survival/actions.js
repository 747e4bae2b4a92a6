// Compact, restart, swap the agent; and what that did.
import { html } from "../../../html.js";
import { Badge } from "../../../ui/parts.js";
import { Refusal } from "../guide.js";

export function Actions({ data, act, busy, last }) {
  const second = data.agent === "second-agent";
  return html`<div class="stack">
    <div class="row">
      <button class="button" disabled=${busy || second} onClick=${() => act("compact")}>Compact now</button>
      <button class="button" disabled=${busy} onClick=${() => act("restart")}>Restart the server's session</button>
      <button class="button" disabled=${busy || second} onClick=${() => act("swap")}>Swap the agent</button>
      <${Badge} tone=${second ? "warn" : "accent"}>${second ? "second agent, new session" : "first agent"}</${Badge}>
    </div>
    <p class="small" role="status">${told(last)}</p>
    ${last?.refused && html`<${Refusal} refused=${last.refused} />`}
    <p class="small muted">On disk: <code>${data.log.path}</code>, ${data.log.events} events, ${data.log.bytes.toLocaleString("en")} bytes.
      Fingerprint of the next request: <code>${data.digest.slice(0, 16)}…</code></p>
  </div>`;
}

function told(last) {
  const done = last?.done;
  if (last?.op === "window" && !last.refused) return `Played again in a window of ${last.window.toLocaleString("en")} tokens.`;
  if (!done) return " ";
  const number = (value) => value.toLocaleString("en");
  return {
    compact: () => `A pass (${done.rungs.join(" + ")}): ${number(done.before)} → ${number(done.after)} tokens.`,
    restart: () =>
      `Closed, opened again, rebuilt from ${done.events} events. Fingerprint before ${done.before.slice(0, 16)}…, after ${done.after.slice(0, 16)}…: ${done.same ? "the same." : "different!"}`,
    swap: () => "Another agent opened the same stores and asked for the task list.",
  }[last.op]();
}
