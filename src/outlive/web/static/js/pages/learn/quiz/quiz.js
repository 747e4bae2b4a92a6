// Lesson 3: rounds of ten questions. The engine checks each answer and says what it did to find out.
import { html, useState } from "../../../html.js";
import { useData, withQuery } from "../../../api.js";
import { Link } from "../../../router.js";
import { Loaded } from "../../../ui/states.js";
import { Commands } from "../own.js";
import { path } from "../scratch.js";
import { Question } from "./question.js";
import { addRound, clearScore, readScore } from "./score.js";

const newSeed = () => crypto.getRandomValues(new Uint32Array(1))[0];

export function Quiz({ title }) {
  const [seed, setSeed] = useState(newSeed);
  const round = useData(withQuery(path("quiz"), { seed }));
  return html`<div class="page quiz">
    <div class="row guide-head"><${Link} to="/learn" class="small">All lessons</${Link}><span class="small muted grow">${title}</span><${Score} /></div>
    <${Loaded} from=${round} what="Choosing questions">
      ${({ questions, bank }) => html`<${Round} key=${seed} questions=${questions} bank=${bank} again=${() => setSeed(newSeed())} />`}
    </${Loaded}>
  </div>`;
}

function Score() {
  const [score, setScore] = useState(readScore);
  const clear = () => {
    clearScore();
    setScore(readScore());
  };
  if (!score.rounds) return html`<span class="small muted">No rounds yet</span>`;
  return html`<span class="small muted">${score.rounds} ${score.rounds === 1 ? "round" : "rounds"}, best ${score.best} of 10</span>
    <button class="button plain small" onClick=${clear}>Clear the score</button>`;
}

function Round({ questions, bank, again }) {
  const [at, setAt] = useState(0);
  const [right, setRight] = useState(0);
  const answered = (isRight) => isRight && setRight(right + 1);
  const next = () => {
    if (at + 1 === questions.length) addRound(right, questions.length);
    setAt(at + 1);
  };
  if (at === questions.length) return html`<${End} right=${right} asked=${questions.length} bank=${bank} again=${again} />`;
  return html`<${Question}
    key=${questions[at].id} question=${questions[at]} number=${at + 1} of=${questions.length} right=${right} answered=${answered} next=${next} />`;
}

const End = ({ right, asked, bank, again }) => html`<section class="card pad stack" aria-label="End of the round">
  <h1>${right} of ${asked}</h1>
  <p>${right === asked ? "All right." : right > asked / 2 ? "Well done." : "The lessons show all of it; try them and come back."}${" "}
    The bank has ${bank} questions; more come from what you do in lessons 1 and 2.</p>
  <div class="row">
    <button class="button primary" onClick=${again}>Another round</button>
    <${Link} to="/learn" class="button">All lessons</${Link}>
  </div>
  <h2>Do it in your own project</h2>
  <p>Decide with the same question for each thing that must not be lost: who needs it, and for how long?</p>
  <${Commands}
    lines=${[
      "# for the project: tasks that every agent sees",
      'outlive task create "Write the report"',
      "# for you: what every session should know",
      'outlive memory add "Use tabs" "Makefiles need tabs" --type feedback',
      "# see both, and your sessions",
      "outlive web",
    ]} />
</section>`;
