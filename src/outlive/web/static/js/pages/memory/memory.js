// Memory: what was learned, where it came from, what replaced it, what was refused; and the log with undo.
import { html } from "../../html.js";
import { useQuery, useSelection } from "../../router.js";
import { PageHead } from "../../ui/parts.js";
import { Tabs } from "../../ui/tabs.js";
import { MemoryPanel } from "./panel.js";
import { Log } from "./log.js";
import { MemoryList } from "./list.js";
import { Refused } from "./refused.js";

const VIEWS = { list: "Memories", refused: "Refused", log: "Log" };
const SHOWN = { list: MemoryList, refused: Refused, log: Log };

export function Memory({ workspace, about }) {
  const [values, go] = useQuery();
  const change = (changes) => go(changes, { replace: true });
  const view = VIEWS[values.view] ? values.view : "list";
  const selected = /^(project|user)\/./.test(values.memory ?? "") ? values.memory : null;
  const selection = useSelection("memory", selected, go);
  const link = (scope, slug) => selection.link(`${scope}/${slug}`);
  const View = SHOWN[view];
  return html`<div class="page memory-page ${selected ? "with-panel" : ""}">
    <${PageHead} title="Memory">
      ${!about.control && html`<span class="small muted read-only">Read only. Start with <code>outlive web --control</code> to forget or undo here.</span>`}
    </${PageHead}>
    <${Tabs} names=${VIEWS} chosen=${view} choose=${(key) => go({ view: key === "list" ? "" : key })} label="Views" />
    <div class="tasks-split">
      <div class="stack" key=${view}>
        <${View} workspace=${workspace} values=${values} change=${change} link=${link} selected=${selected} control=${about.control} />
      </div>
      ${selected &&
      html`<${MemoryPanel} key="panel" workspace=${workspace} memory=${selected} control=${about.control} close=${selection.close} link=${link} />`}
    </div>
  </div>`;
}
