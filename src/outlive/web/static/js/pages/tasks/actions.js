// What may be done to a task. The server decides; what it refuses is shown in its words.
import { html, useRef, useState } from "../../html.js";
import { post } from "../../api.js";
import { Refusal } from "../../ui/refusal.js";
import { Editor } from "./editor.js";

const DURATIONS = [[900, "15 minutes"], [3600, "1 hour"], [28_800, "8 hours"]];
const FINISHED = ["completed", "cancelled"];

export function Actions({ workspace, task, link }) {
  const [chosen, setChosen] = useState("");
  const [error, setError] = useState(null);
  const [told, setTold] = useState(null);
  const [busy, setBusy] = useState(false);
  const last = useRef(null);

  const act = async (name, body = {}) => {
    last.current = body;
    setBusy(true);
    setError(null);
    setTold(null);
    try {
      setTold({ name, ...(await post(`/api/w/${workspace}/tasks/${task.id}/${name}`, body)) });
      setChosen("");
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  const toggle = (name) => {
    setError(null);
    setChosen(chosen === name ? "" : name);
  };
  const button = (name, text, tone = "") => html`<button class="button ${tone}" aria-expanded=${chosen === name} onClick=${() => toggle(name)}>${text}</button>`;
  const finished = FINISHED.includes(task.state);
  return html`<div class="stack task-actions">
    <div class="row">
      ${!finished && task.state !== "in_progress" && button("claim", "Claim …")}
      ${task.state === "in_progress" && html`<button class="button" disabled=${busy} onClick=${() => act("release")}>Release</button>`}
      ${!finished && button("complete", "Complete …")}
      ${finished && html`<button class="button" disabled=${busy} onClick=${() => act("reopen")}>Reopen</button>`}
      <button class="button" onClick=${() => setChosen("edit")}>Edit …</button>
      ${!finished && button("cancel", "Cancel …", "danger")}
    </div>
    ${chosen === "claim" && html`<${ClaimForm} busy=${busy} send=${(body) => act("claim", body)} />`}
    ${chosen === "complete" && html`<${NoteForm} busy=${busy} field="result" label="Result (optional)" verb="Complete" send=${(body) => act("complete", body)} />`}
    ${chosen === "cancel" && html`<${NoteForm} busy=${busy} field="reason" label="Reason (optional)" verb="Cancel the task" send=${(body) => act("cancel", body)} />`}
    ${chosen === "edit" && html`<${Editor} workspace=${workspace} task=${task} close=${() => setChosen("")} saved=${() => setChosen("")} />`}
    <${Refusal} error=${error}>
      ${error?.code === "complete_blocked" &&
      html`<button class="button" onClick=${() => act("complete", { ...last.current, force: true })}>Complete it anyway</button>`}
    </${Refusal}>
    <div role="status">${told && html`<${Told} told=${told} link=${link} />`}</div>
  </div>`;
}

const SAID = { claim: "Claimed.", release: "Released.", complete: "Completed.", reopen: "Open again.", cancel: "Cancelled." };

const Told = ({ told, link }) => html`<p class="small task-told">${SAID[told.name]}
  ${told.unblocked.length > 0 &&
  html`${" "}Now ready: ${told.unblocked.map((other, at) => html`${at ? ", " : ""}<a ...${link(other.id)} dir="auto">${other.id} ${other.subject}</a>`)}`}
</p>`;

function ClaimForm({ send, busy }) {
  const [owner, setOwner] = useState(localStorage.getItem("owner") ?? "");
  const [seconds, setSeconds] = useState(DURATIONS[0][0]);
  const submit = (event) => {
    event.preventDefault();
    localStorage.setItem("owner", owner);
    send({ owner, seconds });
  };
  return html`<form class="row" onSubmit=${submit}>
    <input class="field" aria-label="Owner" placeholder="Owner" required value=${owner} ref=${focus} onInput=${(event) => setOwner(event.target.value)} />
    <select class="field" aria-label="Lease" value=${seconds} onChange=${(event) => setSeconds(Number(event.target.value))}>
      ${DURATIONS.map(([value, name]) => html`<option value=${value}>${name}</option>`)}
    </select>
    <button class="button primary" disabled=${busy}>Claim</button>
  </form>`;
}

function NoteForm({ send, field, label, verb, busy }) {
  const [text, setText] = useState("");
  const submit = (event) => {
    event.preventDefault();
    send(text.trim() ? { [field]: text } : {});
  };
  return html`<form class="row" onSubmit=${submit}>
    <input class="field grow" aria-label=${label} placeholder=${label} value=${text} ref=${focus} onInput=${(event) => setText(event.target.value)} />
    <button class="button primary" disabled=${busy}>${verb}</button>
  </form>`;
}

let focused = null;
// Focus a field when it appears, once.
function focus(element) {
  if (element && element !== focused) element.focus();
  focused = element;
}
