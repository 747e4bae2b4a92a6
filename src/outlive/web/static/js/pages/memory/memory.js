// Memory: what was learned, where it came from, what replaced it, what was refused; and the log with undo.
import { html, useLayoutEffect } from "../../html.js";
import { useQuery } from "../../router.js";
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
  const open = (memory) => memory !== shown() && go({ memory });
  const close = () => open(null);
  useLayoutEffect(() => {
    if (selected === null) return undefined;
    const leave = (event) => event.key === "Escape" && !document.querySelector("dialog[open]") && close();
    addEventListener("keydown", leave);
    return () => removeEventListener("keydown", leave);
  });
  const link = (scope, slug) => linkTo(`${scope}/${slug}`, open);
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
      html`<${MemoryPanel} key="panel" workspace=${workspace} memory=${selected} control=${about.control} close=${close} link=${link} />`}
    </div>
  </div>`;
}

// The memory that the address names now; a dialog may tell twice that it closes.
const shown = () => new URLSearchParams(location.search).get("memory");

// The attributes of a link that opens a memory beside the view.
function linkTo(ref, open) {
  const query = new URLSearchParams(location.search);
  query.set("memory", ref);
  return {
    href: `${location.pathname}?${query}`,
    onClick: (event) => {
      if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      open(ref);
    },
  };
}
