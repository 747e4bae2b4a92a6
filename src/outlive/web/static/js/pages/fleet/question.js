// A question of an agent, with a field for the answer.
import { html, useState } from "../../html.js";
import { post } from "../../api.js";
import { Refusal } from "../../ui/refusal.js";

export function Question({ path, question, control }) {
  const [text, setText] = useState("");
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const answer = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    await post(`${path}/tasks/${question.id}/answer`, { text }).catch(setError);
    setBusy(false);
  };
  return html`<div class="fleet-row stack">
    <p><span class="mono muted">#${question.id}</span> <b dir="auto">${question.subject}</b></p>
    <p class="fleet-question" dir="auto">${question.question}</p>
    ${control
      ? html`<form class="row" onSubmit=${answer}>
          <input class="field grow" aria-label=${`Answer to task ${question.id}`} value=${text} onInput=${(event) => setText(event.target.value)} />
          <button class="button primary" disabled=${busy || !text.trim()}>Answer</button>
        </form>`
      : html`<pre class="small">outlive fleet answer ${question.id} TEXT</pre>`}
    <${Refusal} error=${error} />
  </div>`;
}
