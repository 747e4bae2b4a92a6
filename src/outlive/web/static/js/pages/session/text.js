// Texts: cut by the server, whole on request, with handles that can be clicked.
import { html, useState } from "../../html.js";
import { get } from "../../api.js";
import { plural } from "../../format.js";
import { Markdown } from "../../ui/markdown.js";
import { usePlace } from "./place.js";

const HANDLE = /(@h\d+)/;

// Text in which @h12 opens what it stands for.
export function WithHandles({ text }) {
  const { openHandle } = usePlace();
  if (!HANDLE.test(text)) return text;
  return text
    .split(HANDLE)
    .map((part, at) => (at % 2 ? html`<button class="handle" onClick=${() => openHandle(part)}>${part}</button>` : part));
}

// What a model writes.
const Prose = ({ text }) => html`<${Markdown} text=${text} inline=${(plain) => html`<${WithHandles} text=${plain} />`} />`;

// `from`: the address of the whole text, with a query; by default that of an event.
// `as`: markdown, words or plain.
export function LongText({ text, event, block = 0, as = "plain", from }) {
  const { base } = usePlace();
  const [parts, setParts] = useState(null);
  const [next, setNext] = useState(0);
  const [error, setError] = useState(null);
  const show = async () => {
    try {
      const found = await get(`${from ?? `${base}/text?event=${event}&block=${block}`}&from=${next}`);
      setParts([...(parts ?? []), found.text]);
      setNext(found.next);
    } catch (problem) {
      setError(problem);
    }
  };
  const Shown = SHOWN[as];
  const more = parts ? next : text.cut;
  return html`<div class="long-text">
    ${parts
      ? parts.map((part, at) => html`<${Shown} key=${at} text=${part} whole=${true} />`)
      : html`<${Shown} text=${text.text} />${text.end && html`<p class="gap">…</p><${Shown} text=${text.end} />`}`}
    ${error && html`<p class="notice bad small" role="alert">${error.message}</p>`}
    ${Boolean(more) &&
    html`<button class="button small-button" onClick=${show}>
      ${parts ? "Show more" : `Show all (${plural(text.size, "character")})`}
    </button>`}
  </div>`;
}

// What a person writes, as it was typed.
const Words = ({ text }) => html`<div class="prose" dir="auto"><${WithHandles} text=${text} /></div>`;

// A whole text may be long: it scrolls by itself.
const Plain = ({ text, whole = false }) =>
  html`<pre class=${whole ? "whole" : ""} tabindex=${whole ? 0 : undefined}><${WithHandles} text=${text} /></pre>`;

const SHOWN = { markdown: Prose, words: Words, plain: Plain };
