// The view at any request: a scrubber goes through time.
import { html, useEffect, useState } from "../../html.js";
import { get } from "../../api.js";
import { moment } from "../../format.js";
import { Panel } from "../../ui/panel.js";
import { Failed, Loading } from "../../ui/states.js";
import { BANDS, usePlace } from "./place.js";
import { ViewRow } from "./row.js";

const PAUSE = 120; // milliseconds that the scrubber rests before the view is asked for

export function ViewPanel({ request, feed, close }) {
  const { base, openView, openPass } = usePlace();
  const count = feed.columns.length;
  const at = Math.max(1, Math.min(request, count));
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    const ask = () =>
      get(`${base}/view?request=${at}`, abort.signal).then(
        (data) => (setFound(data), setError(null)),
        (problem) => problem.name !== "AbortError" && setError(problem),
      );
    const timer = setTimeout(ask, found ? PAUSE : 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [base, at]);
  const go = (number) => openView(Math.max(1, Math.min(number, count)), { replace: true });
  const passes = feed.columns[at - 1]?.passes ?? [];
  return html`<${Panel} title="What the model was shown" close=${close} wide=${true}>
    <div class="scrubber">
      <button class="button" onClick=${() => go(at - 1)} disabled=${at <= 1} aria-label="The request before">‹</button>
      <input type="range" min="1" max=${count} value=${at} aria-label="Request" aria-valuetext=${`Request ${at} of ${count}`} onInput=${(event) => go(Number(event.target.value))} />
      <button class="button" onClick=${() => go(at + 1)} disabled=${at >= count} aria-label="The next request">›</button>
      <output>Request ${at} of ${count}</output>
    </div>
    ${error && html`<${Failed} error=${error} />`}
    ${!found && !error && html`<${Loading} what="Replaying the log" />`}
    ${found &&
    html`<div class=${`stack ${found.request === at ? "" : "stale"}`} aria-busy=${found.request !== at}>
      <p class="row small">
        <b>${found.tokens.toLocaleString("en")} tokens</b>
        <span class="muted">${found.counted ? "as the provider counted" : "estimated"} · ${moment(found.time)} · before event ${found.event}</span>
        ${passes.map((event) => html`<button class="chip" key=${event} onClick=${() => openPass(event)}>▾ pass of event ${event}</button>`)}
      </p>
      <${Mix} kinds=${found.kinds} total=${found.estimated} />
      <${Rows} key=${found.request} first=${found} base=${base} />
    </div>`}
  </${Panel}>`;
}

const Mix = ({ kinds, total }) => html`<div class="mix" role="img" aria-label=${Object.entries(kinds).map(([kind, size]) => `${BANDS[kind] ?? kind} ${Math.round((size / total) * 100)}%`).join(", ")}>
  ${Object.keys(BANDS).map((kind) => kinds[kind] > 0 && html`<i key=${kind} class=${`swatch ${kind}`} style=${{ width: `${(kinds[kind] / total) * 100}%` }} title=${`${BANDS[kind]}: ${kinds[kind].toLocaleString("en")}`}></i>`)}
</div>`;

function Rows({ first, base }) {
  const [pages, setPages] = useState([first]);
  const { next, total } = pages.at(-1);
  const scale = first.estimated ? first.tokens / first.estimated : 1;
  const more = async () => setPages([...pages, await get(`${base}/view?request=${first.request}&skip=${next}`)]);
  return html`${pages
    .flatMap(({ rows }) => rows)
    .map(
      (row) => html`<${ViewRow} key=${row.number} row=${row} scale=${scale} textFrom=${`${base}/view/text?event=${first.event}&row=${row.number}`} quiet=${row.kind === "system"} />`,
    )}
  ${next && html`<button class="button small-button" onClick=${more}>Show more (${total - next} of ${total})</button>`}`;
}
