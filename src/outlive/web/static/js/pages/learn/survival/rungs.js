// The same session at each rung of the ladder: before the pass, and after it.
import { html, useEffect, useState } from "../../../html.js";
import { useData } from "../../../api.js";
import { Tabs } from "../../../ui/tabs.js";
import { Loaded } from "../../../ui/states.js";
import { readJson } from "../progress.js";
import { Place } from "./facts.js";

const RUNGS = {
  spool: "A result arrives that is too large for the window. The model gets its beginning, its end and a handle. Nothing older changes.",
  snip: "The window fills. A long old text of the agent keeps its head and tail, with a handle.",
  micro: "The window fills. Old tool results shrink to one line and the lines worth keeping; the conversation around them stays.",
  collapse: "The window fills further. The oldest whole turns fold into a digest: what was asked, done, decided, and the best lines.",
  auto: "Somebody asks for it (/compact), or the limit is near. All but the newest part is folded.",
  reactive: "The provider says “too long”, twice. An emergency pass goes down to the least that must stay.",
};

export function Rungs({ all }) {
  const [chosen, setChosen] = useState("spool");
  const found = useData(`/api/learn/rungs/${chosen}`);
  useEffect(() => {
    const { seen } = readJson("learn-rungs", { seen: [] });
    const now = [...new Set([...seen, chosen])];
    localStorage.setItem("learn-rungs", JSON.stringify({ seen: now }));
    if (Object.keys(RUNGS).every((rung) => now.includes(rung))) all();
  }, [chosen]);
  const names = Object.fromEntries(Object.keys(RUNGS).map((rung, at) => [rung, `${at} ${rung}`]));
  return html`<section class="card pad stack rungs" aria-label="Rungs">
    <${Tabs} names=${names} chosen=${chosen} choose=${setChosen} label="Rungs" />
    <p>${RUNGS[chosen]}</p>
    <${Loaded} from=${found} what="Playing the session">
      ${(seen) => html`
        <p class="small muted">Window of ${seen.window.toLocaleString("en")} tokens. The receipt says: ${seen.receipt.rungs.join(" + ")}, ${seen.receipt.before.toLocaleString("en")} → ${seen.receipt.after.toLocaleString("en")} tokens.</p>
        <div class="rung-table"><table>
          <thead><tr><th scope="col">What</th><th scope="col">Before the pass</th><th scope="col">After it</th></tr></thead>
          <tbody>${seen.after.filter((fact) => fact.where !== "unsaid").map((fact) => {
            const before = seen.before.find((one) => one.key === fact.key).where;
            return html`<tr key=${fact.key} class=${before === fact.where ? "" : "left"}>
              <th scope="row">${fact.what}</th><td><${Place} where=${before} /></td><td><${Place} where=${fact.where} /></td>
            </tr>`;
          })}</tbody>
        </table></div>`}
    </${Loaded}>
  </section>`;
}
