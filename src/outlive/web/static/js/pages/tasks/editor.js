// A task to make or to change. Only what was changed is sent, so that what others change meanwhile stays.
import { html, useEffect, useState } from "../../html.js";
import { get, post, withQuery } from "../../api.js";
import { Panel } from "../../ui/panel.js";
import { Refusal } from "../../ui/refusal.js";
import { Loading } from "../../ui/states.js";

const PRIORITIES = ["0, most urgent", "1", "2, usual", "3", "4, least urgent"];
const EMPTY = { subject: "", description: "", priority: 2, labels: "", blockedBy: "", blocks: "" };

export function Editor({ workspace, task = null, close, saved }) {
  const [start, setStart] = useState(task ? null : EMPTY);
  const [form, setForm] = useState(start);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (task) {
      formOf(workspace, task).then((found) => {
        setStart(found);
        setForm(found);
      }, setError);
    }
  }, []);
  const set = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const path = `/api/w/${workspace}/tasks`;
      const done = task ? await post(`${path}/${task.id}/edit`, changesOf(start, form)) : await post(path, draftOf(form));
      saved(done.task);
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return html`<${Panel} title=${task ? `Edit task ${task.id}` : "New task"} close=${close}>
    ${form
      ? html`<form class="stack task-editor" onSubmit=${send}>
          <label>Subject<input class="field" required maxlength="200" value=${form.subject} onInput=${set("subject")} dir="auto" /></label>
          <label>Description<textarea class="field" rows="6" value=${form.description} onInput=${set("description")} dir="auto"></textarea></label>
          <div class="pair">
            <label>Priority<select class="field" value=${form.priority} onChange=${set("priority")}>
              ${PRIORITIES.map((name, value) => html`<option value=${value}>${name}</option>`)}</select></label>
            <label>Labels, separated by commas<input class="field" value=${form.labels} onInput=${set("labels")} /></label>
            <label>Waits for these tasks<input class="field" placeholder="ids, such as 3, 7" value=${form.blockedBy} onInput=${set("blockedBy")} /></label>
            <label>These tasks wait for it<input class="field" placeholder="ids" value=${form.blocks} onInput=${set("blocks")} /></label>
          </div>
          <${Refusal} error=${error} />
          <div class="row"><button class="button primary" disabled=${busy}>${task ? "Save" : "Create"}</button>
            <button type="button" class="button" onClick=${close}>Discard</button></div>
        </form>`
      : html`${error ? html`<${Refusal} error=${error} />` : html`<${Loading} />`}`}
  </${Panel}>`;
}

async function formOf(workspace, task) {
  let { text: description, next } = task.description;
  while (next) {
    const part = await get(withQuery(`/api/w/${workspace}/tasks/${task.id}/text`, { field: "description", skip: next }));
    description += part.text;
    next = part.next;
  }
  const ids = (tasks) => tasks.map((other) => other.id).join(", ");
  return {
    subject: task.subject,
    description,
    priority: task.priority,
    labels: task.labels.join(", "),
    blockedBy: ids(task.needs),
    blocks: ids(task.blocks),
  };
}

const words = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);
// "3, #7 task_9" as ["3", "7", "9"]; anything else stays as it is, and is refused with a suggestion.
const refs = (text) => text.split(/[\s,]+/).filter(Boolean).map((ref) => ref.replace(/^(#|task[_ ]?)(?=\d+$)/i, ""));

const draftOf = (form) => ({
  subject: form.subject,
  description: form.description,
  priority: Number(form.priority),
  labels: words(form.labels),
  blockedBy: refs(form.blockedBy),
  blocks: refs(form.blocks),
});

function changesOf(start, form) {
  const changes = {};
  for (const name of ["subject", "description"]) if (form[name] !== start[name]) changes[name] = form[name];
  if (Number(form.priority) !== Number(start.priority)) changes.priority = Number(form.priority);
  if (form.labels !== start.labels) changes.labels = words(form.labels);
  for (const [field, name] of [["blockedBy", "blocked_by"], ["blocks", "blocks"]]) {
    const [before, now] = [refs(start[field]), refs(form[field])];
    changes[`add_${name}`] = now.filter((ref) => !before.includes(ref));
    changes[`remove_${name}`] = before.filter((ref) => !now.includes(ref));
  }
  return changes;
}
