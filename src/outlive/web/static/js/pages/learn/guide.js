// The text of a lesson: one step at a time, what to do, and whether it was done.
import { html, useEffect, useRef } from "../../html.js";
import { Link } from "../../router.js";
import { Badge } from "../../ui/parts.js";

export function Guide({ title, steps, progress, restart }) {
  const { at, done, go } = progress;
  const step = steps[at];
  const heading = useRef(null);
  const moved = useRef(false);
  useEffect(() => {
    if (moved.current) heading.current.focus();
    moved.current = true;
  }, [at]);
  useEffect(() => {
    if (!step.task) progress.mark(step.key); // nothing to do but to read
  }, [step.key]);
  const isDone = done.includes(step.key);
  const last = at === steps.length - 1;
  const again = () => {
    restart();
    progress.reset();
  };
  return html`<section class="card pad guide" aria-label="The lesson">
    <div class="row guide-head">
      <${Link} to="/learn" class="small">All lessons</${Link}>
      <span class="small muted grow">${title}</span>
      <button class="button plain small" onClick=${again}>Restart the lesson</button>
    </div>
    <ol class="guide-dots" aria-label="Steps">
      ${steps.map(
        (one, number) => html`<li key=${one.key}>
          <button
            class=${done.includes(one.key) ? "done" : ""} aria-current=${number === at ? "step" : undefined}
            aria-label=${`Step ${number + 1}: ${one.title}${done.includes(one.key) ? " (done)" : ""}`} title=${one.title}
            onClick=${() => go(number)}></button>
        </li>`,
      )}
    </ol>
    <h1 tabindex="-1" ref=${heading}><span class="muted">${at + 1}.</span> ${step.title}</h1>
    <div class="guide-text">${step.text}</div>
    ${step.task &&
    html`<p class="guide-task ${isDone ? "done" : ""}" role="status">
      <${Badge} tone=${isDone ? "good" : "accent"}>${isDone ? "Done" : "Your turn"}</${Badge}><span>${isDone && step.after ? step.after : step.task}</span>
    </p>`}
    <div class="row">
      <button class="button" disabled=${at === 0} onClick=${() => go(at - 1)}>Back</button>
      ${last
        ? html`<${Link} to=${step.next} class="button primary">${step.nextName}</${Link}>`
        : html`<button class="button ${isDone ? "primary" : ""}" onClick=${() => go(at + 1)}>${isDone ? "Next" : "Skip this step"}</button>`}
    </div>
  </section>`;
}

// The engine said no: its own words.
export const Refusal = ({ refused }) => html`<div class="card learn-refusal" role="alert">
  <p><b>Refused.</b> ${refused.message}</p>
  <p class="muted small">${refused.hint ? `${refused.hint}. ` : ""}Nothing was changed.</p>
</div>`;
