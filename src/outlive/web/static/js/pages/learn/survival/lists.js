// The same six items twice: as the model reads them in its conversation, and as tasks on disk.
import { html } from "../../../html.js";

export function Lists({ todo, tasks, agent }) {
  const there = todo.filter((item) => item.done !== null).length;
  const where = agent === "second-agent" ? "in the second agent's window" : "in the window";
  return html`<div class="learn-two-lists">
    <section class="card pad stack" aria-label="To-do list in the conversation">
      <h2>To-do list in the conversation</h2>
      <p class="small muted">${there ? `${there} of ${todo.length} items are ${where}.` : `Nothing of it is ${where}.`}</p>
      <ul class="learn-items">
        ${todo.map((item) => html`<li key=${item.text} class=${item.done === null ? "gone" : ""}>
          <span aria-hidden="true">${item.done === null ? "·" : item.done ? "☑" : "☐"}</span>
          <span>${item.text}<span class="visually-hidden">${item.done === null ? " (not in the window)" : item.done ? " (done)" : " (open)"}</span></span>
        </li>`)}
      </ul>
    </section>
    <section class="card pad stack" aria-label="Tasks on disk">
      <h2>Tasks on disk</h2>
      <p class="small muted">All ${tasks.length} are there; the open ones are in every request.</p>
      <ul class="learn-items">
        ${tasks.map((task) => html`<li key=${task.id}>
          <span aria-hidden="true">${task.status === "completed" ? "✓" : task.blockedBy.length ? "◌" : "○"}</span>
          <span>${task.id} ${task.subject}<span class="visually-hidden"> (${task.status})</span></span>
        </li>`)}
      </ul>
    </section>
  </div>`;
}
