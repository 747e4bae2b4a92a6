// The lessons: an overview, and each lesson on a path of its own.
import { html } from "../../html.js";
import { Link } from "../../router.js";
import { Badge, PageHead } from "../../ui/parts.js";
import { Empty } from "../../ui/states.js";
import { GraphLesson } from "./graph/lesson.js";
import { STEPS as GRAPH_STEPS } from "./graph/steps.js";
import { readProgress } from "./progress.js";
import { Quiz } from "./quiz/quiz.js";
import { readScore } from "./quiz/score.js";
import { SurvivalLesson } from "./survival/lesson.js";
import { STEPS as SURVIVAL_STEPS } from "./survival/steps.js";

const LESSONS = {
  graph: {
    title: "Dependency graph",
    about: "Complete tasks and see what they unblock, in the files on disk too. Make a cycle. Kill a worker.",
    page: GraphLesson,
    steps: GRAPH_STEPS,
  },
  survival: {
    title: "Compression survival",
    about: "Make an agent's window smaller, compact it, restart it, replace it. See what is gone and what stays.",
    page: SurvivalLesson,
    steps: SURVIVAL_STEPS,
  },
  quiz: { title: "Quiz", about: "To-do or task? Which rung? What survives? The engine checks your answers.", page: Quiz },
};

export function Learn({ lesson }) {
  if (!lesson) return html`<${Overview} />`;
  const found = Object.hasOwn(LESSONS, lesson) ? LESSONS[lesson] : null;
  if (!found) {
    return html`<div class="page"><${Empty} title="There is no such lesson"><${Link} to="/learn">All lessons</${Link}></${Empty}></div>`;
  }
  return html`<${found.page} title=${found.title} />`;
}

const Overview = () => html`<div class="page">
  <${PageHead}
    title="Learn"
    about="Three lessons of about ten minutes. They run on the real engine, in a scratch store of your own: nothing here can touch your projects, and it is removed when the server ends." />
  <ol class="learn-cards">
    ${Object.entries(LESSONS).map(([key, lesson], at) => html`<${Card} key=${key} name=${key} number=${at + 1} ...${lesson} />`)}
  </ol>
</div>`;

const Card = ({ name, number, title, about, steps }) => html`<li>
  <${Link} to=${`/learn/${name}`} class="card pad learn-card">
    <span class="row"><b class="learn-number" aria-hidden="true">${number}</b><h2>${title}</h2></span>
    <span class="muted">${about}</span>
    <span class="small">${steps ? html`<${Done} name=${name} steps=${steps} />` : html`<${Best} />`}</span>
  </${Link}>
</li>`;

function Done({ name, steps }) {
  const done = readProgress(name).done.length;
  if (done >= steps.length) return html`<${Badge} tone="good">Finished</${Badge}>`;
  return done ? html`<${Badge} tone="accent">${done} of ${steps.length} steps</${Badge}>` : html`<${Badge}>About ten minutes</${Badge}>`;
}

function Best() {
  const { best, rounds } = readScore();
  return rounds ? html`<${Badge} tone="good">Best round: ${best} of 10</${Badge}>` : html`<${Badge}>Ten questions a round</${Badge}>`;
}
