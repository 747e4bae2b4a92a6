// Who did what to which task: the audit lines of the store, the newest first.
import { html } from "../../../html.js";

export const History = ({ history }) => html`<section class="card pad stack learn-history-card" aria-label="History">
  <h2>History on disk</h2>
  <ol class="learn-history small">
    ${history.map(
      (line) => html`<li key=${`${line.at}-${line.task}-${line.op}`}>
        <time class="muted">${new Date(line.at * 1000).toLocaleTimeString("en-GB")}</time> <b>${line.op}</b> ${line.task} by ${line.by}${line.note ? ` · ${line.note}` : ""}
      </li>`,
    )}
  </ol>
</section>`;
