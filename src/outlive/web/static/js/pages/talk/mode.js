// The permission mode. A narrower one counts at once, a wider one after its name was typed.
import { html, useState } from "../../html.js";
import { Panel } from "../../ui/panel.js";

export function ModePicker({ mode, modes, choose, label = "Permission mode" }) {
  const [wanted, setWanted] = useState(null);
  const picked = (event) => {
    const found = modes.find((one) => one.name === event.target.value);
    event.target.value = mode;
    if (!found || found.name === mode) return;
    if (found.wider) setWanted(found);
    else choose(found.name, "");
  };
  const about = modes.find((one) => one.name === mode)?.about;
  return html`<label class="row small mode">
      <span class="muted">Mode</span>
      <select class="field" aria-label=${label} value=${mode} title=${about} onChange=${picked}>
        ${modes.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}: ${one.about}</option>`)}
      </select>
    </label>
    ${wanted && html`<${TypeIt} wanted=${wanted} mode=${mode} choose=${choose} close=${() => setWanted(null)} />`}`;
}

function TypeIt({ wanted, mode, choose, close }) {
  const [typed, setTyped] = useState("");
  const send = (event) => {
    event.preventDefault();
    if (typed !== wanted.name) return;
    choose(wanted.name, typed);
    close();
  };
  return html`<${Panel} title=${`A wider mode: ${wanted.name}`} close=${close}>
    <form class="stack" onSubmit=${send}>
      <p>In <b>${wanted.name}</b> the agent ${wanted.name === "bypass" ? "asks for no permission" : wanted.about}. Current mode: <b>${mode}</b>.</p>
      <label class="stack">
        <span>Type <b>${wanted.name}</b> to choose it.</span>
        <input class="field" autocomplete="off" spellcheck=${false} autofocus aria-label="Name of the mode" value=${typed}
          onInput=${(event) => setTyped(event.target.value)} />
      </label>
      <div class="row"><button class="button danger" disabled=${typed !== wanted.name}>Change the mode</button></div>
    </form>
  </${Panel}>`;
}
