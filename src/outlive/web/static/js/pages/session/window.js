// The window over time: a chart with a cursor, and what the request under the cursor was made of.
import { html, useEffect, useState } from "../../html.js";
import { dollars, moment, plural, short } from "../../format.js";
import { Empty, Loading } from "../../ui/states.js";
import { Chart } from "./chart.js";
import { isTakenBack } from "./feed.js";
import { BANDS, usePlace } from "./place.js";

export function WindowOverTime({ feed, at }) {
  const { columns } = feed;
  const [chosen, setChosen] = useState(null); // null: follow the newest
  const [pointed, setPointed] = useState(null); // by the mouse, as long as it is there
  const count = columns?.length ?? 0;
  useEffect(() => {
    if (at) setChosen(at - 1);
  }, [at]);
  if (!columns) return html`<${Loading} what="Measuring the window" />`;
  if (!count) {
    return html`<${Empty} title="No request yet"><p>Each request to the model becomes a column here: what filled the window, what it cost, and what left it.</p></${Empty}>`;
  }
  const cursor = Math.min(pointed ?? chosen ?? count - 1, count - 1);
  const choose = (number) => setChosen(number >= count - 1 ? null : Math.max(0, number));
  return html`<header class="row"><h2 class="grow">Window over time</h2><span class="muted small">${plural(count, "request")}</span></header>
    <${Chart} columns=${columns} cursor=${cursor} choose=${choose} point=${setPointed} takenBack=${feed.takenBack} following=${chosen === null} />
    <${Readout} column=${columns[cursor]} number=${cursor + 1} count=${count} takenBack=${feed.takenBack} />
    <${Passes} columns=${columns} takenBack=${feed.takenBack} />`;
}

function Readout({ column, number, count, takenBack }) {
  const { openView } = usePlace();
  const { tokens, bands, counted, fresh, read, written, output, cost, missed, other_cost: other } = column;
  return html`<section class="readout" aria-label="The request under the cursor">
    <div class="row">
      <b>Request ${number}</b><span class="muted small">of ${count} · ${moment(column.time)}</span>
      ${isTakenBack(takenBack, column.event) && html`<span class="badge warn">taken back</span>`}
      <button class="button small-button end" onClick=${() => openView(number)}>Open this view</button>
    </div>
    <table class="bands small">
      <tbody>
        ${Object.entries(BANDS).map(
          ([key, name], at) => html`<tr key=${key}>
            <td><i class=${`swatch ${key}`}></i>${name}</td>
            <td class="number">${bands[at].toLocaleString("en")}</td>
            <td class="number muted">${tokens ? `${Math.round((bands[at] / tokens) * 100)}%` : ""}</td>
          </tr>`,
        )}
        <tr><td><b>Tokens</b> <span class="muted">${counted ? "counted by the provider" : "estimated"}</span></td><td class="number"><b>${tokens.toLocaleString("en")}</b></td><td></td></tr>
      </tbody>
    </table>
    <p class="small cache">
      ${counted
        ? html`<span><i class="swatch read"></i>${short(read)} read from the cache</span>
            <span><i class="swatch written"></i>${short(written)} written</span>
            <span><i class="swatch fresh"></i>${short(fresh)} not cached</span>
            <span>${plural(output, "output token")}</span>
            <span>${cost ? dollars(cost) : "price not known"}${other ? ` and ${dollars(other)} for a summary` : ""}</span>`
        : html`<span class="muted">The provider reported no count for this request.</span>`}
    </p>
    <p class="small missed" title=${missed}>${missed || column.rewrote ? html`<${Miss} column=${column} />` : html`<span class="muted">No cache miss.</span>`}</p>
  </section>`;
}

const REASONS = {
  expired: "the provider's cache had expired",
  compacted: "a pass changed the beginning of the request",
  model: "the model had changed",
  changed: "the beginning of the request had changed",
};

function Miss({ column: { missed, rewrote, reason, rewrote_cost: cost } }) {
  return html`<b>Cache missed:</b> ${rewrote > 0 &&
    `${short(rewrote)} tokens that had been sent before were paid for again, because ${REASONS[reason] ?? reason}${cost ? `; ${dollars(cost)} more than reading them` : ""}. `}
    ${missed && html`<span class="muted">The provider: ${missed}</span>`}`;
}

function Passes({ columns, takenBack }) {
  const { openPass } = usePlace();
  const passes = columns.flatMap((column, at) => column.passes.map((event) => [event, at + 1])).reverse();
  if (!passes.length) return html`<p class="small muted">No pass so far: everything that was said is in the window.</p>`;
  return html`<section aria-label="Passes">
    <h3>Passes</h3>
    <div class="pass-list">
      ${passes.slice(0, 60).map(
        ([event, request]) => html`<button class=${`chip ${isTakenBack(takenBack, event) ? "undone" : ""}`} key=${event} onClick=${() => openPass(event)}>
          ▾ event ${event}<span class="muted"> before request ${request}</span>
        </button>`,
      )}
      ${passes.length > 60 && html`<span class="muted small">and ${passes.length - 60} older; their marks are in the chart</span>`}
    </div>
  </section>`;
}
