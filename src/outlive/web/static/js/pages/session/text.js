// Texts: cut by the server, whole on request, with handles that can be clicked.
import { html, useState } from "../../html.js";
import { get } from "../../api.js";
import { plural } from "../../format.js";
import { usePlace } from "./place.js";

const HANDLE = /(@h\d+)/;
const FENCE = /^```[^\n]*\n([\s\S]*?)^```[ \t]*$/m;

// Text in which @h12 opens what it stands for.
export function WithHandles({ text }) {
  const { openHandle } = usePlace();
  if (!HANDLE.test(text)) return text;
  return text
    .split(HANDLE)
    .map((part, at) => (at % 2 ? html`<button class="handle" onClick=${() => openHandle(part)}>${part}</button>` : part));
}

// Words, with fenced code set apart.
function Prose({ text }) {
  return text.split(FENCE).map((part, at) =>
    at % 2 ? html`<pre class="code">${part}</pre>` : part.trim() && html`<div class="prose"><${WithHandles} text=${part.replace(/^\n+|\n+$/g, "")} /></div>`,
  );
}

// `from`: the address of the whole text, with a query; by default that of an event.
export function LongText({ text, event, block = 0, prose = false, from }) {
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
  const Shown = prose ? Prose : Plain;
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

// A whole text may be long: it scrolls by itself.
const Plain = ({ text, whole = false }) =>
  html`<pre class=${whole ? "whole" : ""} tabindex=${whole ? 0 : undefined}><${WithHandles} text=${text} /></pre>`;
