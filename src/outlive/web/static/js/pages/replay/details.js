// One policy: the size of each request, passes with what left, and what cache misses cost the recorded program.
import { html } from "../../html.js";
import { useData } from "../../api.js";
import { dollars, percent, plural, short } from "../../format.js";
import { Loaded } from "../../ui/states.js";
import { Curve } from "./curve.js";

export function Details({ path }) {
  const found = useData(path);
  return html`<${Loaded} from=${found} what="Reading the report">
    ${(report) => html`
      <section class="card pad stack" aria-label="Size of requests">
        <h2>Requests under policy ${report.policy}</h2>
        <${Curve} points=${report.curve} />
        ${report.refusals.map((one) => html`<p key=${one.turn} class="small">At message ${one.turn}: ${one.why}</p>`)}
      </section>
      ${report.recorded_cache && html`<${Misses} account=${report.recorded_cache} />`}
      <section class="card pad stack" aria-label="Passes">
        <h2>${plural(report.passes, "pass", "passes")}</h2>
        ${report.passes === 0 && html`<p class="muted">Everything fits this window. Make it smaller to see what a pass does.</p>`}
        ${report.pass_list.map((one, at) => html`<${PassRow} key=${at} pass=${one} />`)}
        ${report.passes > report.pass_list.length && html`<p class="small muted">… and ${plural(report.passes - report.pass_list.length, "more pass", "more passes")}</p>`}
      </section>`}
  </${Loaded}>`;
}

const PassRow = ({ pass }) => html`<details class="replay-pass">
  <summary><b>Before message ${pass.turn}</b> ${short(pass.before)} → ${short(pass.after)} tokens <span class="muted">${pass.rungs.join(", ")} · ${pass.reason} · ${short(pass.left_tokens)} tokens left</span></summary>
  <ul class="small">
    ${pass.left.map((one, at) => html`<li key=${at}><bdi class="mono">${one.what}</bdi> <span class="muted">${short(one.tokens)} tokens</span></li>`)}
    ${pass.left_more > 0 && html`<li class="muted">and ${pass.left_more} more</li>`}
  </ul>
</details>`;

const REASONS = { expired: "the cache had expired", compacted: "the conversation was compacted", model: "another model was used", changed: "the prompt changed" };

function Misses({ account }) {
  return html`<section class="card pad stack" aria-label="Recorded cache misses">
    <h2>What the recorded program paid</h2>
    <p>${percent(account.share)} of its input came from the cache; ${plural(account.missed, "miss", "misses")} paid for ${short(account.missed_tokens)} tokens again${account.missed_cost ? `, ${dollars(account.missed_cost)} more than reading them` : ""}.</p>
    ${account.misses.length > 0 &&
    html`<div class="scroll-x" tabindex="0" role="group" aria-label="Cache misses"><table>
      <thead><tr><th class="number">Call</th><th class="number">Tokens</th><th>Why</th><th class="number">Pause</th><th class="number">Cost</th></tr></thead>
      <tbody>${account.misses.map((one) => html`<tr key=${one.call}><td class="number">${one.call}</td><td class="number">${short(one.tokens)}</td><td>${REASONS[one.reason] ?? one.reason}</td><td class="number">${Math.round(one.gap)} s</td><td class="number">${dollars(one.cost)}</td></tr>`)}</tbody>
    </table></div>`}
  </section>`;
}
