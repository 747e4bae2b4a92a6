// Says at the top of a narrow page that a call waits for an answer, and goes there.
import { html } from "../../html.js";
import { plural } from "../../format.js";

export function ApprovalLink({ questions }) {
  if (!questions?.length) return null;
  const go = (event) => {
    event.preventDefault();
    const card = document.querySelector(".question");
    card?.scrollIntoView({ block: "nearest" });
    card?.focus({ preventScroll: true });
  };
  return html`<a class="approval-link" href="#approval" onClick=${go}>
    <b>${plural(questions.length, "call needs", "calls need")} your approval</b> <span class="clip">${questions[0].tool}</span>
  </a>`;
}
