// What can be done with the chosen task.
import { html, useEffect, useState } from "../../../html.js";
import { Badge } from "../../../ui/parts.js";
import { Refusal } from "../guide.js";

const TONES = { ready: "accent", blocked: "", in_progress: "warn", completed: "good", cancelled: "" };
const list = (ids) => ids.join(" and ");

export function TaskActions({ task, tasks, act, busy, last }) {
  const others = tasks.filter((one) => one.id !== task.id && !task.dependsOn.includes(one.id));
  const [on, setOn] = useState(others.at(-1).id);
  useEffect(() => {
    if (!others.some((one) => one.id === on)) setOn(others.at(-1).id);
  }, [task.id]);
  const completed = task.state === "completed";
  return html`<section class="card pad stack" aria-label="The chosen task">
    <div class="row">
      <h2>${task.id} ${task.subject}</h2>
      <${Badge} tone=${TONES[task.state]}>${task.state.replace("_", " ")}</${Badge}>
    </div>
    <p class="small muted">${task.blockedBy.length ? `Waits for ${list(task.blockedBy)}.` : task.dependsOn.length ? "Everything it depends on is finished." : "It depends on nothing."}</p>
    <div class="row">
      ${completed
        ? html`<button class="button" disabled=${busy} onClick=${() => act("reopen", { task: task.id })}>Reopen</button>`
        : html`<button class="button primary" disabled=${busy} onClick=${() => act("complete", { task: task.id })}>Complete</button>`}
    </div>
    <form
      class="row" onSubmit=${(event) => {
        event.preventDefault();
        act("depend", { task: task.id, on });
      }}>
      <label class="row small">Let it wait for
        <select class="field" value=${on} onChange=${(event) => setOn(Number(event.target.value))}>
          ${others.map((one) => html`<option key=${one.id} value=${one.id}>${one.id} ${one.subject}</option>`)}
        </select>
      </label>
      <button class="button" disabled=${busy}>Add the arrow</button>
    </form>
    <p class="small" role="status">${told(last)}</p>
    ${last?.refused && html`<${Refusal} refused=${last.refused} />`}
  </section>`;
}

// What the last action did, in a sentence.
function told(last) {
  const done = last?.done;
  if (!done) return " ";
  const ready = done.unblocked?.length ? ` Now ready: ${list(done.unblocked)}.` : " Nothing new is ready by that.";
  const sentences = {
    complete: `Task ${done.task} is completed.${ready}`,
    reopen: `Task ${done.task} is open again.${done.blocked?.length ? ` Blocked again: ${list(done.blocked)}.` : ""}`,
    depend: `Task ${done.task} now waits for ${done.on}.`,
    claim: `${done.owner} claimed task ${done.task}.`,
    kill: `Process ${done.pid} was killed. Task ${done.task} stays in ${done.owner}'s name until the lease runs out.`,
    finish: `${done.owner} completed task ${done.task} and ended.`,
  };
  return sentences[done.op] ?? " ";
}
