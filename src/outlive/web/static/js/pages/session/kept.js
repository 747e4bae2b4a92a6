// Why lines were kept: the names of which each was the last mention.
import { html } from "../../html.js";
import { useData } from "../../api.js";
import { plural } from "../../format.js";
import { Loaded } from "../../ui/states.js";
import { usePlace } from "./place.js";

export function KeptLines({ event }) {
  const { base, openHandle, showEvent } = usePlace();
  const found = useData(`${base}/passes/${event}/kept`);
  return html`<${Loaded} from=${found} what="Replaying the log and scoring lines">
    ${({ lines, total, unexplained }) => html`<div class="stack">
      <p class="small muted">
        A line stays if it is the last mention of a name that a later tool call is likely to spell. Score: how likely the names are to be
        needed again, per token. ${total > lines.length ? `The first ${lines.length} of ${total} are shown. ` : ""}
        ${unexplained > 0 ? `The source of ${plural(unexplained, "digest line")} is unknown: labels, summaries, cut texts.` : ""}
      </p>
      ${!lines.length && html`<p class="muted">This pass kept no single lines.</p>`}
      ${lines.map(
        (line, at) => html`<article class="kept" key=${at}>
          <pre>${line.text}</pre>
          <p class="small"><b>${line.why}</b> <span class="muted">score ${line.score.toFixed(3)} · <button class="handle" onClick=${() => showEvent(line.event)}>${line.what}</button></span>
            ${line.handles.map((handle) => html` <button class="handle" key=${handle} onClick=${() => openHandle(handle)}>${handle}</button>`)}</p>
          <p class="small names">
            ${line.names.filter((one) => one.last).map((one) => html`<span class="chip" key=${one.name} title=${about(one)}><code>${one.name}</code> ${one.score.toFixed(3)}</span> `)}
          </p>
        </article>`,
      )}
    </div>`}
  </${Loaded}>`;
}

const about = ({ times, used, typed }) =>
  [`mentioned ${plural(times, "time")}`, used ? `spelled by ${plural(used, "call")}` : "never spelled by a call", typed ? "typed by the user" : ""].filter(Boolean).join(", ");
