// Lesson 2: a recorded session in a window that can be made smaller; compact it, restart it, swap the agent.
import { html, useEffect, useState } from "../../../html.js";
import { Failed, Loading } from "../../../ui/states.js";
import { Guide } from "../guide.js";
import { useProgress } from "../progress.js";
import { useScratch } from "../scratch.js";
import { Actions } from "./actions.js";
import { Facts } from "./facts.js";
import { Lists } from "./lists.js";
import { Recalled } from "./recalled.js";
import { RequestView } from "./request.js";
import { Rungs } from "./rungs.js";
import { STEPS } from "./steps.js";
import { WindowChart } from "./chart.js";
import { WindowSlider } from "./slider.js";

const SMALL = 30_000; // tokens: here the to-do list has left the window

export function SurvivalLesson({ title }) {
  const scratch = useScratch("survival");
  const progress = useProgress("survival", STEPS);
  const { data, error, last } = scratch;
  useEffect(() => {
    if (!last?.done && last?.op !== "window") return;
    if (last.op === "window" && last.window <= SMALL) progress.mark("shrink");
    if (["compact", "restart", "swap"].includes(last.op)) progress.mark(last.op);
  }, [last]);
  const step = STEPS[progress.at].key;
  return html`<div class="page">
    <${Guide} title=${title} steps=${STEPS} progress=${progress} restart=${scratch.restart} />
    ${error && html`<${Failed} error=${error} retry=${error.code === "not_started" ? scratch.restart : scratch.reload} />`}
    ${step === "rungs"
      ? html`<${Rungs} all=${() => progress.mark("rungs")} />`
      : data
        ? html`<${Stage} scratch=${scratch} mark=${progress.mark} />`
        : !error && html`<${Loading} what="Playing the session" />`}
  </div>`;
}

function Stage({ scratch, mark }) {
  const { data, act, busy, last } = scratch;
  const [handle, setHandle] = useState("");
  const recall = (one) => {
    setHandle(one);
    mark("recall");
  };
  return html`
    <section class="card pad stack" aria-label="The window">
      <${WindowSlider} window=${data.window} limits=${data.limits} busy=${busy} choose=${(window) => act("window", { window })} />
      <${WindowChart} moments=${data.moments} window=${data.window} />
      ${data.stopped && html`<p class="small">The session could not go on: ${data.stopped}</p>`}
      <${Actions} data=${data} act=${act} busy=${busy} last=${last} />
    </section>
    <${Lists} todo=${data.todo} tasks=${data.tasks} agent=${data.agent} />
    <${Facts} facts=${data.facts} agent=${data.agent} recall=${recall} />
    <${RequestView} key=${data.digest} used=${data.used} recall=${recall} opened=${() => mark("request")} />
    ${handle && html`<${Recalled} handle=${handle} close=${() => setHandle("")} />`}
  `;
}
