// The figures of each policy.
import { html } from "../../html.js";
import { percent, short } from "../../format.js";

export function PolicyTable({ policies, chosen, choose }) {
  return html`<div class="scroll-x" tabindex="0" role="group" aria-label="Figures of the policies">
    <table>
      <thead><tr><th>Policy</th><th class="number">Cost</th><th class="number">In view</th><th class="number">From cache</th><th class="number">Largest</th><th class="number">Passes</th></tr></thead>
      <tbody>
        ${policies.map((one) => html`<tr key=${one.policy} class=${one.policy === chosen ? "chosen" : ""}>
          <td><button class="button small-button" aria-pressed=${one.policy === chosen} onClick=${() => choose(one.policy)}>${one.policy}</button></td>
          <td class="number">${percent(one.ratio)}</td>
          <td class="number">${one.names_used ? percent(one.survives) : "–"}</td>
          <td class="number">${percent(one.cached)}</td>
          <td class="number">${short(one.largest)}</td>
          <td class="number">${one.passes}${one.refused > 0 && html` <span class="badge bad">${one.refused} too large</span>`}</td>
        </tr>`)}
        <tr class="muted"><td>no compaction</td><td class="number">100%</td><td class="number">100%</td><td></td><td class="number">${short(policies[0].plain_largest)}</td><td class="number">–</td></tr>
      </tbody>
    </table>
  </div>
  <p class="small muted">Cost in multiples of an uncached input token: 1.25 to write the cache, 0.1 to read it, 5 for output; the cache lives five minutes by the recorded times.</p>`;
}
