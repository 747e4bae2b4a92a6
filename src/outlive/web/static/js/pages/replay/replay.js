// A recorded session played through the context engine: what each policy would have cost, and what would have stayed in view.
import { html, useEffect, useState } from "../../html.js";
import { get, post } from "../../api.js";
import { plural, short } from "../../format.js";
import { PageHead } from "../../ui/parts.js";
import { Failed } from "../../ui/states.js";
import { CostChart } from "./chart.js";
import { Details } from "./details.js";
import { Source } from "./source.js";
import { PolicyTable } from "./table.js";

const POLL = 400; // milliseconds
const SMALLEST = 13; // the window as a power of two
const LARGEST = 20;
const ENDED = ["done", "cancelled", "failed"];

const tokensOf = (power) => Math.round(2 ** power / 1000) * 1000;

export function Replay({ workspace }) {
  const base = `/api/w/${workspace}/replay`;
  const [recording, setRecording] = useState(null);
  const [power, setPower] = useState(16.5);
  const [run, setRun] = useState(null);
  const [policy, setPolicy] = useState("");
  const [problem, setProblem] = useState(null);

  const play = async (source = recording, window = tokensOf(power)) => {
    setProblem(null);
    try {
      if (run && !ENDED.includes(run.status)) await post(`${base}/runs/${run.run}/cancel`);
      setRun(await post(`${base}/runs`, { recording: source.recording, window }));
    } catch (error) {
      setProblem(error);
    }
  };
  const chosen = (found) => {
    setRecording(found);
    setRun(null);
    setPolicy("");
    play(found);
  };
  const forget = () => {
    post(`${base}/recordings/${recording.recording}/forget`);
    setRecording(null);
    setRun(null);
    setProblem(null);
  };
  useEffect(() => {
    if (!run || ENDED.includes(run.status)) return undefined;
    const timer = setTimeout(() => get(`${base}/runs/${run.run}`).then(setRun, setProblem), POLL);
    return () => clearTimeout(timer);
  }, [run]);

  const policies = run?.policies ?? [];
  const shown = policies.find((one) => one.policy === policy)?.policy ?? policies.find((one) => one.policy === "rich")?.policy ?? "";
  return html`<div class="page replay-page">
    <${PageHead} title="Replay" about="Play a recorded session through the context engine at any window. No model is called, nothing is sent anywhere, and nothing is kept." />
    ${!recording && html`<${Source} workspace=${workspace} base=${base} chosen=${chosen} />`}
    ${recording &&
    html`<section class="card pad stack" aria-label="Recording">
      <div class="row">
        <h2 class="grow clip">${recording.task || recording.session}</h2>
        <button class="button" onClick=${forget}>Another transcript</button>
      </div>
      <p class="small muted">${recording.format} · ${recording.model || "model not known"} · ${plural(recording.messages, "message")} · ${plural(recording.turns, "model call")}</p>
      ${recording.skipped.map((text) => html`<p key=${text} class="small muted">Left out: ${text}</p>`)}
      <label class="row window-choice">
        <span>Window</span>
        <input type="range" class="grow" min=${SMALLEST} max=${LARGEST} step="0.25" value=${power} aria-label="Window in tokens"
          aria-valuetext=${`${tokensOf(power).toLocaleString("en")} tokens`}
          onInput=${(event) => setPower(Number(event.target.value))}
          onChange=${(event) => play(recording, tokensOf(Number(event.target.value)))} />
        <b class="number">${short(tokensOf(power))} tokens</b>
      </label>
      <${Progress} run=${run} cancel=${() => post(`${base}/runs/${run.run}/cancel`)} />
    </section>`}
    ${problem && html`<${Failed} error=${problem} retry=${recording ? () => play() : undefined} />`}
    ${policies.length > 0 &&
    html`<div class="replay-grid">
        <section class="card pad stack" aria-label="Policies side by side">
          <h2>Cost against what survives</h2>
          <${CostChart} policies=${policies} chosen=${shown} choose=${setPolicy} />
        </section>
        <section class="card pad stack" aria-label="Figures"><${PolicyTable} policies=${policies} chosen=${shown} choose=${setPolicy} /></section>
      </div>
      ${shown && html`<${Details} key=${`${run.run} ${shown}`} path=${`${base}/runs/${run.run}/${encodeURIComponent(shown)}`} />`}`}
  </div>`;
}

// Keeps its height when the run has ended, so that nothing below jumps.
function Progress({ run, cancel }) {
  if (!run) return html`<div class="row progress-row"></div>`;
  const running = !ENDED.includes(run.status);
  const words = { waiting: "Waiting for another replay", running: "Playing", done: "Played", cancelled: "Cancelled", failed: run.problem };
  return html`<div class="row progress-row small" role="status">
    <span>${words[run.status]}</span>
    <progress class="grow" max=${run.total || 1} value=${run.done} aria-label="Progress of the replay"></progress>
    <span class="muted number">${run.done.toLocaleString("en")} of ${run.total.toLocaleString("en")}</span>
    <button class="button small-button" disabled=${!running} onClick=${cancel}>Cancel</button>
  </div>`;
}
