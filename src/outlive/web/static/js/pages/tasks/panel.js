// One task beside the view, or over it on a narrow screen.
import { html } from "../../html.js";
import { useLive } from "../../live.js";
import { SidePanel } from "../../ui/side.js";
import { Loaded } from "../../ui/states.js";
import { TaskView } from "./view.js";

export function TaskPanel({ workspace, id, control, close, link }) {
  const found = useLive(workspace, "tasks", `/api/w/${workspace}/tasks/${id}`);
  return html`<${SidePanel} title=${`Task ${id}`} close=${close}>
    <${Loaded} from=${found} what="Reading the task">
      ${(task) => html`<${TaskView} key=${id} workspace=${workspace} task=${task} control=${control} link=${link} />`}
    </${Loaded}>
  </${SidePanel}>`;
}
