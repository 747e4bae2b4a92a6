// Starts a session: the first words, then the page of the session.
import { html, useState } from "../../html.js";
import { post } from "../../api.js";
import { navigate } from "../../router.js";
import { PageHead } from "../../ui/parts.js";
import { Empty } from "../../ui/states.js";
import { browserId } from "./browser.js";
import { ModePicker } from "./mode.js";
import { Problem, WordsField } from "./words.js";

const MODES = [
  { name: "default", about: "by your settings, else ask", wider: false },
  { name: "plan", about: "looks and plans, changes nothing", wider: false },
  { name: "accept-edits", about: "edits without asking, asks before it runs", wider: true },
  { name: "bypass", about: "asks for no permission", wider: true },
];

export function NewSession({ workspace, about }) {
  const [words, setWords] = useState("");
  const [mode, setMode] = useState({ mode: "", typed: "" });
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const here = about.workspaces.find((one) => one.id === workspace);
  if (!about.control) return html`<${ReadOnly} />`;
  const send = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const { session } = await post(`/api/w/${workspace}/talk`, { text: words, ...mode, browser: browserId() });
      navigate(`/w/${workspace}/sessions/${encodeURIComponent(session)}`);
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const choose = (name, typed) => setMode(name === MODES[0].name ? { mode: "", typed: "" } : { mode: name, typed });
  return html`<div class="page new-session">
    <${PageHead} title="New session" about="An agent works in this folder, with the same rules as in the terminal. It asks here before it changes anything." />
    <div class="card pad stack">
      <p class="small muted mono clip" title=${here?.path}>${here?.path}</p>
      <${WordsField} value=${words} change=${setWords} send=${send} label="First message" placeholder="What should the agent do?" rows=${4} focused=${true} />
      ${problem && html`<${Problem} error=${problem} dismiss=${() => setProblem(null)} />`}
      <div class="row">
        <button class="button primary" disabled=${busy || !words.trim()} onClick=${send}>${busy ? "Starting …" : "Start"}</button>
        <${ModePicker} mode=${mode.mode || MODES[0].name} modes=${MODES} choose=${choose} />
      </div>
    </div>
  </div>`;
}

const ReadOnly = () => html`<div class="page">
  <${Empty} title="This server is read only">
    <p>Start it with control to talk to agents from the page.</p>
    <pre>outlive web --control</pre>
  </${Empty}>
</div>`;
