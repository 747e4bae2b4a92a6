// What a handle gives back: the exact bytes.
import { html } from "../../html.js";
import { useData } from "../../api.js";
import { plural } from "../../format.js";
import { Copy } from "../../ui/copy.js";
import { Panel } from "../../ui/panel.js";
import { Loaded } from "../../ui/states.js";
import { usePlace } from "./place.js";
import { LongText } from "./text.js";

// One for each event: a page may hold several parts of one.
const distinct = (parts) => parts.filter((part, at) => parts.findIndex((one) => one.event === part.event) === at);

export function HandlePanel({ handle, close }) {
  const { base, session, showEvent } = usePlace();
  const path = `${base}/handles/${encodeURIComponent(handle)}`;
  const found = useData(path);
  const name = `@${handle.replace(/^@/, "")}`;
  const actions = html`<a class="button" href=${`${path}/bytes`} download>Download</a>`;
  return html`<${Panel} title=${name} close=${close} actions=${actions}>
    <${Loaded} from=${found} what="Looking it up">
      ${(data) => html`<div class="stack">
        <p class="row small">
          <span class="muted">${data.picture ? "A picture" : plural(data.bytes, "byte")}, exactly as the log has it</span>
          <${Copy} text=${`outlive recall ${name} --session ${session}`} label="Copy the command" />
        </p>
        ${data.parts.length > 0 && html`<p class="small muted">From ${distinct(data.parts).map((part) => html`<button class="handle" key=${`${part.event}.${part.block}`} onClick=${() => showEvent(part.event)}>event ${part.event}</button> `)}</p>`}
        ${data.picture
          ? html`<img class="picture" src=${`${path}/bytes`} alt=${data.text} />`
          : html`<div class="bytes"><${LongText} text=${{ text: data.text, size: data.size, cut: data.next ? data.size - data.next : 0 }} from=${`${path}?`} /></div>`}
      </div>`}
    </${Loaded}>
  </${Panel}>`;
}
