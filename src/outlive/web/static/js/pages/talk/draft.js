// The answer as it arrives, and the output of commands that run.
import { html, useEffect, useLayoutEffect, useRef } from "../../html.js";
import { Markdown } from "../../ui/markdown.js";

const UNTIL_LOGGED = 1500; // milliseconds after which the log surely shows what was said

// `newest` is the newest answer that the page shows from the log.
export function Draft({ draft, working, lastEvent, newest, settle }) {
  useEffect(() => {
    if (!draft.said) return undefined;
    if (lastEvent !== undefined && lastEvent >= draft.said) {
      settle();
      return undefined;
    }
    const timer = setTimeout(settle, UNTIL_LOGGED);
    return () => clearTimeout(timer);
  }, [draft.said, lastEvent]);
  const began = useRef(newest);
  if (!draft.text && !draft.thinking) began.current = newest;
  const logged = (draft.said > 0 && lastEvent >= draft.said) || newest > began.current; // its item shows it now
  const { text, thinking } = logged ? { text: "", thinking: "" } : draft;
  const outputs = Object.entries(draft.outputs);
  const helpers = Object.entries(draft.helpers);
  if (!working && !text && !thinking) return null;
  // Once its text is an item of the conversation this is another box: it must not be seen to move from there.
  return html`<div key=${text || thinking ? "answer" : "work"} class="draft" aria-label="Arriving now" role="region">
    ${thinking && html`<details class="thinking"><summary>Thinking</summary><pre>${thinking}</pre></details>`}
    ${text && html`<div class="arriving" dir="auto"><${Markdown} text=${text} /></div>`}
    ${outputs.map(([call, text]) => html`<${Output} key=${call} text=${text} />`)}
    ${helpers.map(([session, text]) => html`<p key=${session} class="small muted clip">sub-agent: ${text}</p>`)}
    <p class="small muted" role="status">${doing(draft, working, text)}</p>
  </div>`;
}

function doing(draft, working, text) {
  if (draft.waits) return draft.waits;
  if (draft.call) return `writing a call to ${draft.call} …`;
  if (!working || text) return "";
  return Object.keys(draft.outputs).length ? "running …" : "working …";
}

// The end of what a command has printed; it follows the newest line.
function Output({ text }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return html`<pre class="output" ref=${box} tabindex="0" aria-label="Output of the running command">${text}</pre>`;
}
