// "Do it in your own project": commands to copy.
import { html } from "../../html.js";
import { Copy } from "../../ui/copy.js";

export const Commands = ({ lines }) => html`<div class="learn-commands">
  <pre tabindex="0" aria-label="Commands">${lines.join("\n")}</pre>
  <${Copy} text=${lines.filter((line) => !line.startsWith("#")).join("\n")} label="Copy the commands" />
</div>`;
