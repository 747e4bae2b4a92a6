// A call that waits for permission: the exact command, what would change, and the answers. Nothing is preselected.
import { html, useEffect, useRef, useState } from "../../html.js";
import { get } from "../../api.js";
import { plural } from "../../format.js";
import { Badge } from "../../ui/parts.js";
import { Diff } from "../session/call.js";

const PAUSE = 500; // milliseconds before the buttons work, so that a click meant for something else grants nothing

export function QuestionCard({ question, base, answer }) {
  const [armed, setArmed] = useState(false);
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const reason = useRef(null);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), PAUSE);
    return () => clearTimeout(timer);
  }, []);
  const give = async (choice) => {
    setBusy(true);
    await answer(question, choice, choice === "no" ? why.trim() : "");
    setBusy(false);
  };
  const keys = (event) => {
    if (event.target !== event.currentTarget || !armed || busy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "y") give("yes");
    else if (event.key === "a" && question.always.length) give("always");
    else if (event.key === "n") question.is_call ? reason.current.focus() : give("no");
    else return;
    event.preventDefault();
  };
  const off = !armed || busy;
  return html`<section class="question" aria-label=${`Permission: ${question.tool}`} tabindex="0" onKeyDown=${keys}>
    <div class="row">
      <${Badge} tone="warn" pulse=${true}>${question.is_call ? "needs approval" : "needs an answer"}</${Badge}>
      <b>${title(question)}</b>
    </div>
    <${Exact} question=${question} base=${base} />
    <${Change} question=${question} base=${base} />
    ${question.is_call && html`<${Rules} rules=${question.always} />`}
    <div class="row answers">
      <button class="button" disabled=${off} onClick=${() => give("yes")}>${question.is_call ? "Allow once" : question.yes}</button>
      ${question.always.length > 0 &&
      html`<button class="button" disabled=${off} onClick=${() => give("always")}>Always allow</button>`}
      ${question.is_call
        ? html`<form class="row grow" onSubmit=${(event) => { event.preventDefault(); give("no"); }}>
            <input class="field grow" ref=${reason} placeholder="Reason, which the agent is told (optional)"
              aria-label="Reason for refusing" maxlength="2000" value=${why} onInput=${(event) => setWhy(event.target.value)} />
            <button class="button danger" disabled=${off}>Refuse</button>
          </form>`
        : html`<button class="button" disabled=${off} onClick=${() => give("no")}>${question.no}</button>`}
    </div>
    <p class="small muted keys">With this card focused: <kbd>y</kbd> allow${question.always.length > 0 && html` <kbd>a</kbd> always`} <kbd>n</kbd> refuse</p>
  </section>`;
}

function title({ tool, is_diff: isDiff, creates, is_call: isCall }) {
  if (!isCall) return tool;
  if (isDiff) return `${tool} wants to ${creates ? "create" : "change"} a file`;
  return `${tool} wants to run`;
}

// The command or the path, every byte of it.
function Exact({ question, base }) {
  const first = question.subject;
  const [rest, setRest] = useState({ text: "", upTo: Math.min(question.subject_length, 20_000) });
  const more = async () => {
    const part = await get(`${base}/questions/${question.id}?what=subject&skip=${rest.upTo}`);
    setRest({ text: rest.text + part.text, upTo: Math.min(question.subject_length, rest.upTo + 200_000) });
  };
  const left = question.subject_length - rest.upTo;
  return html`<div class="exact">
    <pre tabindex="0" title=${question.path || undefined} aria-label="What it would run or change, exactly">${first}${rest.text}</pre>
    ${!question.is_diff &&
    html`<p class="small muted">
      ${plural(question.bytes, "byte")}, all of ${question.subject_length === 1 ? "it" : "them"} shown${left > 0 ? ` but ${plural(left, "character")}` : ""}
      ${left > 0 && html` <button class="button small-button" onClick=${more}>Show the rest</button>`}
    </p>`}
    ${question.hidden > 0 &&
    html`<p class="warning" role="alert">${plural(question.hidden, "character")} that a screen would hide or obey ${question.hidden === 1 ? "is" : "are"} written as ⟦U+…⟧.</p>`}
  </div>`;
}

// The diff, or what else the tool shows beforehand.
function Change({ question, base }) {
  const [whole, setWhole] = useState(null);
  if (!question.preview && !question.is_diff) return null;
  const load = async () => {
    let text = "";
    let length = 1;
    while (text.length < length) {
      const part = await get(`${base}/questions/${question.id}?what=diff&skip=${text.length}`);
      length = part.length;
      text += part.text;
    }
    setWhole(text);
  };
  const text = whole ?? question.preview;
  const cut = whole === null && (question.preview.length < question.preview_length || /\n… [\d,]+ more lines of the diff$/.test(text));
  const lines = text.split("\n").filter((line, at) => at > 1 || !/^(---|\+\+\+) /.test(line));
  return html`<div class="change">
    <div class="scroll" tabindex="0" role="group" aria-label="What would change">
      ${question.is_diff ? html`<${Diff} lines=${lines} />` : html`<pre>${text}</pre>`}
    </div>
    ${cut && html`<button class="button" onClick=${load}>Show the whole change</button>`}
  </div>`;
}

const Rules = ({ rules }) =>
  rules.length
    ? html`<p class="small rules">“Always allow” would remember ${rules.map((rule) => html`<code key=${rule}>${rule}</code> `)} for this project.</p>`
    : html`<p class="small muted rules">Only this once: no plain rule covers all of it.</p>`;
