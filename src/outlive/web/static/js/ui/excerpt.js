// A text of which only the first part was sent; the rest comes on request.
import { html, useEffect, useState } from "../html.js";
import { get, withQuery } from "../api.js";

// `part` is {text, length, next}; `path` answers with the next part.
export function LongText({ part, path, values = {}, mono = false }) {
  const [parts, setParts] = useState([]);
  const [error, setError] = useState(null);
  useEffect(() => {
    setParts([]);
  }, [part.text, part.length]);
  const next = parts.length ? parts.at(-1).next : part.next;
  const more = () =>
    get(withQuery(path, { ...values, skip: next })).then((found) => setParts([...parts, found]), setError);
  return html`<div class="excerpt-text ${mono ? "mono" : ""}" dir="auto">${part.text}${parts.map((one) => one.text)}</div>
    ${next > 0 &&
    html`<button class="button" onClick=${more}>Show more (${part.length.toLocaleString("en")} characters in all)</button>`}
    ${error && html`<p class="refusal" role="alert">${error.message}</p>`}`;
}
