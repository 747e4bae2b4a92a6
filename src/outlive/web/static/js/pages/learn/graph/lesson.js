// Lesson 1: a real task graph, the files it is kept in, and workers that can be killed.
import { html, useEffect, useMemo, useRef, useState } from "../../../html.js";
import { Failed, Loading } from "../../../ui/states.js";
import { Guide } from "../guide.js";
import { useProgress } from "../progress.js";
import { useScratch } from "../scratch.js";
import { History } from "./history.js";
import { Picture } from "./picture.js";
import { STEPS } from "./steps.js";
import { TaskFile } from "./file.js";
import { TaskActions } from "./actions.js";
import { Workers } from "./workers.js";

const FIRST_WITH_WORKERS = STEPS.findIndex((step) => step.key === "claim");
const POLL = 1000; // milliseconds between two looks while a lease runs

export function GraphLesson({ title }) {
  const scratch = useScratch("graph");
  const progress = useProgress("graph", STEPS);
  const [chosen, setChosen] = useState(1);
  const { data, error, last } = scratch;
  const before = useBefore(data);
  useWatch(data, scratch.reload);
  useMarks(scratch, progress.mark);

  const choose = (id) => {
    setChosen(id);
    progress.mark("look");
  };
  useEffect(() => {
    if (last?.op === "start" && last.done) setChosen(last.done.task);
  }, [last]);
  const restart = () => {
    setChosen(1);
    scratch.restart();
  };
  return html`<div class="page">
    <${Guide} title=${title} steps=${STEPS} progress=${progress} restart=${restart} />
    ${error && html`<${Failed} error=${error} retry=${error.code === "not_started" ? restart : scratch.reload} />`}
    ${data ? html`<${Stage} scratch=${scratch} before=${before} chosen=${chosen} choose=${choose} withWorkers=${progress.at >= FIRST_WITH_WORKERS} />` : !error && html`<${Loading} what="Making your scratch store" />`}
  </div>`;
}

function Stage({ scratch, before, chosen, choose, withWorkers }) {
  const { data, act, busy, last } = scratch;
  const task = data.tasks.find((one) => one.id === chosen) ?? data.tasks[0];
  const changed = Object.keys(data.files).filter((name) => before && before[name] !== data.files[name]);
  const actions = html`<${TaskActions} task=${task} tasks=${data.tasks} act=${act} busy=${busy} last=${last} />`;
  const crew = withWorkers && html`<${Workers} workers=${data.workers} tasks=${data.tasks} now=${data.now} act=${act} busy=${busy} />`;
  return html`<div class="learn-columns">
    <div class="stack">
      <${Picture} picture=${data.picture} tasks=${data.tasks} now=${data.now} chosen=${task.id} choose=${choose} />
      <${History} history=${data.history} />
    </div>
    <div class="stack">
      ${crew} ${actions}
      <${TaskFile}
        folder=${data.folder} files=${data.files} before=${before} changed=${changed} chosen=${task.id} choose=${choose} />
    </div>
  </div>`;
}

// The files as they were before the last change.
function useBefore(data) {
  const kept = useRef({ text: "", files: null, before: null });
  return useMemo(() => {
    if (!data) return null;
    const text = JSON.stringify(data.files);
    if (text !== kept.current.text) kept.current = { text, files: data.files, before: kept.current.files };
    return kept.current.before;
  }, [data]);
}

// Look again while somebody holds a task: its file changes without us.
function useWatch(data, reload) {
  const alive = data?.workers.some((worker) => worker.alive) || data?.tasks.some((task) => task.lease);
  useEffect(() => {
    if (!alive) return undefined;
    const timer = setInterval(reload, POLL);
    return () => clearInterval(timer);
  }, [alive, reload]);
}

// Which steps the last action, or time, has done.
function useMarks({ data, last }, mark) {
  useEffect(() => {
    if (!last) return;
    const { op, done, refused } = last;
    if (op === "complete" && done?.unblocked.length) mark("complete");
    if (refused?.code === "complete_blocked") mark("refused");
    if (refused?.code === "cycle") mark("cycle");
    if (op === "reopen" && done?.blocked.length) mark("reopen");
    if (op === "start" && done) mark("claim");
    if (op === "late" && refused?.code === "lease") mark("takeover");
  }, [last]);
  useEffect(() => {
    if (!data) return;
    const state = Object.fromEntries(data.tasks.map((task) => [task.id, task.state]));
    if (state[2] === "completed" && state[3] === "completed" && state[4] !== "blocked") mark("join");
    if (data.history.some((line) => line.op === "expire")) mark("kill");
  }, [data]);
}
