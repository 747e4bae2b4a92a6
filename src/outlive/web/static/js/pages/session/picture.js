// A picture of the log.
import { html, useState } from "../../html.js";
import { usePlace } from "./place.js";

export function Picture({ event, block, number = 0 }) {
  const { base } = usePlace();
  const [failed, setFailed] = useState(false);
  if (failed) return html`<p class="muted small">A picture that is not in the log, or of a kind that is not shown</p>`;
  return html`<img class="picture" src=${`${base}/picture?event=${event}&block=${block}&number=${number}`} alt="Picture" onError=${() => setFailed(true)} />`;
}
