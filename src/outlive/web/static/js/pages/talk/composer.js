// Below the conversation: questions of the agent, and words to it.
import { html, useEffect, useState } from "../../html.js";
import { post, useData } from "../../api.js";
import { useStatus } from "../../stream/connection.js";
import { Copy } from "../../ui/copy.js";
import { browserId } from "./browser.js";
import { ModePicker } from "./mode.js";
import { QuestionCard } from "./question.js";
import { Problem, WordsField } from "./words.js";

export function Composer({ workspace, session, talk: { state } }) {
  const place = `/api/w/${workspace}/sessions/${encodeURIComponent(session)}`;
  const base = `${place}/talk`;
  const online = useStatus() === "online";
  const [words, setWords] = useState("");
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState(null);

  // Asks the server for something; what goes wrong is shown until it is dismissed.
  const ask = async (path, body = {}, doing = "") => {
    setBusy(doing);
    setProblem(null);
    try {
      return await post(`${base}/${path}`, { ...body, browser: browserId() });
    } catch (error) {
      setProblem(error);
      return null;
    } finally {
      setBusy("");
    }
  };
  const send = async () => {
    const text = words;
    setWords("");
    if ((await ask("say", { text }, state?.open ? "" : "Opening the session …")) === null) setWords(text);
  };
  const takeBack = async () => {
    const back = await ask("unqueue");
    if (back) setWords((now) => [...back.words, now].filter(Boolean).join("\n\n"));
  };
  const answer = (question, choice, why) => ask(`questions/${question.id}`, { choice, why });

  const open = state?.open;
  return html`<section class="composer" aria-label="Talk to the agent">
    <div class="composer-bar">
      ${open && state.questions.length > 0 &&
      html`<div class="questions" id="approval">
        ${state.questions.map((one) => html`<${QuestionCard} key=${one.id} question=${one} base=${base} answer=${answer} />`)}
      </div>`}
      ${open && state.notices.map((text) => html`<p key=${text} class="small muted">${text}</p>`)}
      ${open && state.ending && html`<${Ending} ending=${state.ending} />`}
      ${problem && html`<${Problem} error=${problem} dismiss=${() => setProblem(null)} />`}
      ${open && state.queued.length > 0 && html`<${Queue} state=${state} takeBack=${takeBack} goOn=${() => ask("continue")} />`}
      <${WordsField} value=${words} change=${setWords} send=${send} label="Message to the agent" placeholder=${placeholder(state)} rows=${open && state.questions.length ? 1 : 2} />
      <div class="row">
        <button class="button primary" disabled=${!words.trim() || Boolean(busy)} onClick=${send}>${open && state.working ? "Queue" : "Send"}</button>
        ${open && state.working && html`<button class="button danger" disabled=${state.stopping} onClick=${() => ask("interrupt")}>${state.stopping ? "Stopping …" : "Stop"}</button>`}
        <${ContinueButton} state=${state} place=${place} goOn=${() => ask("continue", {}, "Opening the session …")} busy=${busy} />
        ${open && html`<${ModePicker} mode=${state.mode} modes=${state.modes} choose=${(mode, typed) => ask("mode", { mode, typed })} />`}
        <span class="grow small muted clip" role="status">${busy || (online ? where(state) : "")}</span>
        ${open && html`<${HandBack} session=${session} close=${() => ask("close")} />`}
      </div>
    </div>
  </section>`;
}

function placeholder(state) {
  if (!state) return "";
  if (!state.open) return "Continue this session …";
  return state.working ? "Say something while it works; it is heard at the next step" : "Say what to do";
}

function where(state) {
  if (!state) return "Connecting …";
  if (state.open) return ""; // the head of the page names the model
  return state.elsewhere ? "Open in another process; it can be continued here when it is closed there." : "Sending opens this session here.";
}

const Ending = ({ ending }) => html`<p class=${`ending ${ending.tone}`} role="status"><b class="lines">${ending.text}</b> <span class="lines">${ending.hint}</span></p>`;

// Words that wait, which are in the log already.
function Queue({ state, takeBack, goOn }) {
  return html`<div class="queue" role="group" aria-label="Queued words">
    ${state.queued.map((text, at) => html`<p key=${at} class="queued"><span class="badge">queued</span> <span class="lines" dir="auto">${text}</span></p>`)}
    <div class="row">
      ${!state.working && html`<button class="button" onClick=${goOn}>Send now</button>`}
      <button class="button" onClick=${takeBack}>Take back</button>
    </div>
  </div>`;
}

// Offered when a turn did not end: after an interruption, or when the process of the session died.
function ContinueButton({ state, place, goOn, busy }) {
  const closed = state && !state.open && !state.elsewhere;
  const summary = useData(closed ? `${place}/summary` : null);
  useEffect(() => {
    if (closed) summary.reload();
  }, [closed]);
  const cutOff = state?.open ? state.unfinished && !state.working && !state.queued.length : closed && summary.data?.status === "interrupted";
  return cutOff && html`<button class="button" disabled=${Boolean(busy)} onClick=${goOn}>Continue</button>`;
}

function HandBack({ session, close }) {
  const command = `outlive --resume ${session}`;
  return html`<details class="hand-back">
    <summary class="small">Release session</summary>
    <div class="stack">
      <p class="small">This page holds the session. Close it here to go on in a terminal:</p>
      <div class="row"><code class="grow">${command}</code><${Copy} text=${command} /></div>
      <button class="button" onClick=${close}>Close it here</button>
    </div>
  </details>`;
}
