// Where a recording comes from: a file dropped into the page, or a session of this workspace.
import { html, useRef, useState } from "../../html.js";
import { post, upload, useData, withQuery } from "../../api.js";
import { Failed } from "../../ui/states.js";

const LARGEST = 64 * 1024 * 1024;

export function Source({ workspace, base, chosen }) {
  const [busy, setBusy] = useState("");
  const [over, setOver] = useState(false);
  const [problem, setProblem] = useState(null);
  const input = useRef(null);
  const sessions = useData(`/api/w/${workspace}/sessions?limit=50`);

  const load = async (doing, work) => {
    setBusy(doing);
    setProblem(null);
    try {
      chosen(await work());
    } catch (error) {
      setProblem(error);
      setBusy("");
    }
  };
  const take = (file) => {
    if (!file) return;
    if (file.size > LARGEST) setProblem({ message: `${file.name} is larger than 64 MiB.`, hint: "outlive replay in a terminal takes it." });
    else load(`Reading ${file.name} …`, () => upload(withQuery(`${base}/recordings`, { name: file.name }), file));
  };
  const dropped = (event) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  const dragging = (event) => {
    event.preventDefault();
    setOver(true);
  };
  const fromSession = (event) =>
    event.target.value && load("Reading the session …", () => post(`${base}/recordings/of-session`, { session: event.target.value }));

  const listed = (sessions.data?.sessions ?? []).map((one) => one.info ?? one);
  return html`<section class=${`card drop ${over ? "over" : ""}`} aria-label="Choose a transcript" onDragOver=${dragging}
      onDragLeave=${() => setOver(false)} onDrop=${dropped}>
      <h2>Drop a transcript here</h2>
      <p class="muted">Of outlive, Claude Code, Codex or pi, up to 64 MiB, also gzipped. It stays on this machine and is forgotten afterwards.</p>
      <div class="row">
        <button class="button primary" disabled=${Boolean(busy)} onClick=${() => input.current.click()}>Choose a file</button>
        <input ref=${input} type="file" class="visually-hidden" tabindex="-1" aria-label="Transcript" accept=".jsonl,.json,.gz"
          onChange=${(event) => take(event.target.files[0])} />
        ${listed.length > 0 &&
        html`<select class="field" aria-label="A session of this workspace" disabled=${Boolean(busy)} value="" onChange=${fromSession}>
          <option value="">or a session of this workspace …</option>
          ${listed.map((info) => html`<option key=${info.id} value=${info.id}>${(info.title || info.id).slice(0, 70)}</option>`)}
        </select>`}
      </div>
      <p class="small muted" role="status">${busy}</p>
      <p class="small muted">Claude Code keeps them in <code>~/.claude/projects</code>, Codex in <code>~/.codex/sessions</code>, pi in <code>~/.pi/agent/sessions</code>.</p>
    </section>
    ${problem && html`<${Failed} error=${problem} />`}`;
}
