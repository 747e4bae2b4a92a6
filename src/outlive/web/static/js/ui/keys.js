// Keys that work on every page: ? lists all keys, c goes to the message to the agent.
import { html, useEffect, useState } from "../html.js";
import { Panel } from "./panel.js";

const KEYS = [
  ["?", "these keys"],
  ["Esc", "close a panel"],
  ["/", "search (sessions)"],
  ["j k", "next and previous session"],
  ["c", "write to the agent (a session)"],
  ["y a n", "allow, always allow, refuse (a focused question)"],
  ["← →", "previous and next request (the chart)"],
  ["p P", "next and previous pass (the chart)"],
  ["Enter", "open the request (the chart), the task (the graph)"],
  ["+ - 0", "zoom in, out, fit (the graph)"],
  ["n p", "next and previous task (the graph)"],
];

export function Keys() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const keys = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
      const composer = event.key === "c" && document.querySelector(".composer textarea");
      if (event.key === "?") setOpen(true);
      else if (composer) composer.focus();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  return open && html`<${Panel} title="Keys" close=${() => setOpen(false)}>
    <dl class="facts">${KEYS.map(([key, about]) => html`<dt key=${key}><kbd>${key}</kbd></dt><dd>${about}</dd>`)}</dl>
  </${Panel}>`;
}
