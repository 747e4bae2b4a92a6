// One question: choose, then read what the engine found.
import { html, useEffect, useRef, useState } from "../../../html.js";
import { get, post } from "../../../api.js";
import { Markdown } from "../../../ui/markdown.js";
import { Panel } from "../../../ui/panel.js";
import { Badge } from "../../../ui/parts.js";
import { Failed } from "../../../ui/states.js";
import { path } from "../scratch.js";

export function Question({ question, number, of, right, answered, next }) {
  const [choice, setChoice] = useState(null);
  const [answer, setAnswer] = useState(null);
  const [error, setError] = useState(null);
  const heading = useRef(null);
  const onward = useRef(null);
  useEffect(() => {
    if (number > 1) heading.current.focus();
  }, []);
  useEffect(() => {
    if (answer) onward.current.focus();
  }, [answer]);
  const check = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      const found = await post(path("quiz"), { question: question.id, choice });
      setAnswer(found);
      answered(found.right);
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<section class="card pad stack" aria-label="Question">
    <div class="row small muted"><span>Question ${number} of ${of}</span><${Badge}>${question.topic}</${Badge}><span class="grow"></span><span>${right} right so far</span></div>
    <h1 tabindex="-1" ref=${heading} id="question-text">${question.text}</h1>
    <form class="stack" onSubmit=${check}>
      <div class="stack learn-choices" role="radiogroup" aria-labelledby="question-text">
        ${question.choices.map((text, at) => html`<label key=${text} class=${answer ? tone(answer, at, choice) : ""}>
          <input type="radio" name="choice" checked=${at === choice} disabled=${answer !== null} onChange=${() => setChoice(at)} />
          <span class="grow">${text}</span>
          ${answer && at === answer.answer && html`<${Badge} tone="good">right</${Badge}>`}
          ${answer && at === choice && at !== answer.answer && html`<${Badge} tone="bad">your answer</${Badge}>`}
        </label>`)}
      </div>
      ${!answer && html`<div><button class="button primary" disabled=${choice === null}>Ask the engine</button></div>`}
    </form>
    ${error && html`<${Failed} error=${error} />`}
    <div role="status">${answer && html`<${Answer} answer=${answer} />`}</div>
    ${answer && html`<div><button class="button primary" ref=${onward} onClick=${next}>${number === of ? "See the result" : "Next question"}</button></div>`}
  </section>`;
}

const tone = (answer, at, choice) => (at === answer.answer ? "right" : at === choice ? "wrong" : "");

function Answer({ answer }) {
  const [source, setSource] = useState(null);
  const [document, setDocument] = useState(null);
  const [error, setError] = useState(null);
  const show = (what, set) => () => get(`/api/learn/sources/${answer.source}${what}`).then(set, setError);
  return html`<div class="stack learn-answer">
    <p><b>${answer.right ? "Right." : "Not quite."}</b> ${answer.reason}</p>
    <p class="small"><span class="muted">What the engine did:</span> ${answer.evidence}</p>
    <p class="small row">
      <button class="button small" onClick=${show("", setSource)}>Read the code that decided</button>
      <button class="button small" onClick=${show("/document", setDocument)}>Read the documentation</button>
    </p>
    ${error && html`<${Failed} error=${error} />`}
    ${source &&
    html`<${Panel} title=${source.name} close=${() => setSource(null)}>
      <p class="small muted"><code>${source.path}</code>, line ${source.line}</p>
      <pre class="learn-code" tabindex="0" aria-label="Code">${source.text}</pre>
    </${Panel}>`}
    ${document &&
    html`<${Panel} title=${document.name} wide close=${() => setDocument(null)}>
      <p class="small muted"><code>${document.path}</code></p>
      <div class="learn-document"><${Markdown} text=${document.text} /></div>
    </${Panel}>`}
  </div>`;
}
