// Forgetting a memory, and agreeing to one that was held back.
import { html, useState } from "../../html.js";
import { post } from "../../api.js";
import { plural } from "../../format.js";
import { Refusal } from "../../ui/refusal.js";

export function Actions({ path, memory }) {
  const [asking, setAsking] = useState("");
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const act = async (name) => {
    setBusy(true);
    setError(null);
    await post(`${path}/${name}`).then(() => setAsking(""), setError);
    setBusy(false);
  };
  if (memory.row.state === "forgotten") return html`<p class="small muted">It is forgotten. Undo that step in the log to bring it back.</p>`;
  const others = memory.forgets.slice(1);
  return html`<div class="stack task-actions">
    <div class="row">
      ${memory.confirmable && html`<button class="button" aria-expanded=${asking === "confirm"} onClick=${() => setAsking("confirm")}>Confirm …</button>`}
      <button class="button danger" aria-expanded=${asking === "forget"} onClick=${() => setAsking("forget")}>Forget …</button>
    </div>
    ${asking === "forget" &&
    html`<${Question} busy=${busy} verb=${`Forget ${plural(memory.forgets.length, "memory", "memories")}`} yes=${() => act("forget")} no=${() => setAsking("")}>
      <p>It moves to the archive, and can be brought back with undo.</p>
      ${others.length > 0 && html`<p>With it goes what it replaced and what was made from it: ${others.map((row) => row.name).join(", ")}</p>`}
    </${Question}>`}
    ${asking === "confirm" &&
    html`<${Question} busy=${busy} verb="Yes, I agree" yes=${() => act("confirm")} no=${() => setAsking("")}>
      <p>Models will be shown this memory, and may follow it. Read its whole text first.</p>
    </${Question}>`}
    <${Refusal} error=${error} />
  </div>`;
}

const Question = ({ verb, yes, no, busy, children }) => html`<div class="card pad stack question" role="group" aria-label=${verb}>
  ${children}
  <div class="row"><button class="button primary" disabled=${busy} onClick=${yes}>${verb}</button><button class="button" onClick=${no}>No</button></div>
</div>`;
