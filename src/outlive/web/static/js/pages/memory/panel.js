// One memory beside the view, or over it on a narrow screen.
import { html } from "../../html.js";
import { useLive } from "../../live.js";
import { SidePanel } from "../../ui/side.js";
import { Loaded } from "../../ui/states.js";
import { MemoryView } from "./view.js";

export function MemoryPanel({ workspace, memory, control, close, link }) {
  const path = `/api/w/${workspace}/memory/${memory.split("/").map(encodeURIComponent).join("/")}`;
  const found = useLive(workspace, "memories", path);
  return html`<${SidePanel} title=${`Memory ${memory}`} close=${close}>
    <${Loaded} from=${found} what="Reading the memory">
      ${(known) => html`<${MemoryView} key=${memory} workspace=${workspace} path=${path} memory=${known} control=${control} link=${link} />`}
    </${Loaded}>
  </${SidePanel}>`;
}
