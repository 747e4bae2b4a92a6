// What does not reach a model, what sessions did not remember, and why.
import { html } from "../../html.js";
import { useLive } from "../../live.js";
import { plural } from "../../format.js";
import { Link } from "../../router.js";
import { Ago } from "../../ui/parts.js";
import { Empty, Loaded } from "../../ui/states.js";

export function Refused({ workspace, link }) {
  const found = useLive(workspace, "memories", `/api/w/${workspace}/memory/refused`);
  return html`<${Loaded} from=${found} what="Checking memories">
    ${({ findings, refusals, sessions }) =>
      findings.length || refusals.length
        ? html`<${Findings} findings=${findings} link=${link} />
            <${Refusals} workspace=${workspace} refusals=${refusals} sessions=${sessions} />`
        : html`<${Empty} title="Nothing was refused">
            <p>Memories with secrets, with instructions that you did not give, or that came with a cloned folder would be named here,
              and so would what a session did not remember.</p>
          </${Empty}>`}
  </${Loaded}>`;
}

const Findings = ({ findings, link }) =>
  findings.length > 0 &&
  html`<section class="stack"><h2>In the store</h2>
    <ul class="card memory-findings">
      ${findings.map((finding) => html`<li key=${finding.where + finding.what} class="stack">
        <span><${Where} where=${finding.where} link=${link} /> ${finding.what}</span>
        <span class="small muted">${finding.remedy}</span>
      </li>`)}
    </ul></section>`;

function Where({ where, link }) {
  const [scope, slug, ...rest] = where.split("/");
  if (!["project", "user"].includes(scope) || !slug || rest.length || slug.endsWith(".md")) return html`<b>${where}</b>`;
  return html`<a ...${link(scope, slug)}>${where}</a>`;
}

const Refusals = ({ workspace, refusals, sessions }) =>
  sessions > 0 &&
  html`<section class="stack"><h2>In sessions</h2>
  <p class="small muted">What the last ${plural(sessions, "session")} did not remember.</p>
  ${refusals.length === 0 && html`<p class="small muted">Nothing.</p>`}
  ${refusals.length > 0 &&
  html`<ul class="card memory-findings">
    ${refusals.map((one) => html`<li key=${`${one.session} ${one.event}`} class="stack">
      <span dir="auto">${one.text}</span>
      <span class="small muted"><${Link} to=${`/w/${workspace}/sessions/${encodeURIComponent(one.session)}?event=${one.event}`}>session ${one.session}</${Link}> · <${Ago} at=${one.at} /></span>
    </li>`)}
  </ul>`}
</section>`;
