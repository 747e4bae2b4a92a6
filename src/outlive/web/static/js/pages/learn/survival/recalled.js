// The exact text behind a handle.
import { html } from "../../../html.js";
import { useData, withQuery } from "../../../api.js";
import { Copy } from "../../../ui/copy.js";
import { Panel } from "../../../ui/panel.js";
import { Loaded } from "../../../ui/states.js";
import { path } from "../scratch.js";

export function Recalled({ handle, close }) {
  const found = useData(withQuery(path("survival/recall"), { handle }));
  return html`<${Panel} title=${`recall ${handle}`} close=${close}>
    <${Loaded} from=${found} what="Reading the log">
      ${(page) => html`<div class="stack">
        <p class="small muted">${page.bytes.toLocaleString("en")} bytes, exactly as they were, from the log on disk. In a terminal:</p>
        <div class="row"><code class="grow">${page.command}</code><${Copy} text=${page.command} /></div>
        <pre class="learn-code" tabindex="0" aria-label="The text">${page.text}</pre>
      </div>`}
    </${Loaded}>
  </${Panel}>`;
}
