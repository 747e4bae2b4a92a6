// Fork a session: a new one that shares the past up to an event.
import { html, useState } from "../../html.js";
import { post } from "../../api.js";
import { navigate } from "../../router.js";
import { Panel } from "../../ui/panel.js";
import { usePlace } from "./place.js";

const ForkSign = () => html`<svg width="14" height="14" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true">
  <circle cx="4" cy="3" r="1.8" /><circle cx="12" cy="3" r="1.8" /><circle cx="8" cy="13" r="1.8" /><path d="M4 5c0 3 4 3 4 6M12 5c0 3-4 3-4 6" />
</svg>`;

// With `sign` the button shows only that.
export function ForkButton({ at, label, sign = false }) {
  const { control } = usePlace();
  const [open, setOpen] = useState(false);
  if (!control) return null;
  const name = sign ? { class: "button plain sign", "aria-label": label, title: label } : { class: "button" };
  return html`<button ...${name} onClick=${() => setOpen(true)}>${sign ? html`<${ForkSign} />` : label}</button>
    ${open && html`<${ForkPanel} at=${at} close=${() => setOpen(false)} />`}`;
}

function ForkPanel({ at, close }) {
  const { base, workspace } = usePlace();
  const [name, setName] = useState("");
  const [error, setError] = useState(null);
  const fork = async (event) => {
    event.preventDefault();
    try {
      const { session } = await post(`${base}/fork`, { at, name });
      navigate(`/w/${workspace}/sessions/${encodeURIComponent(session)}`);
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Panel} title=${at ? `Fork at event ${at}` : "Fork this session"} close=${close}>
    <form class="stack" onSubmit=${fork}>
      <p>The new session goes on from ${at ? `event ${at}` : "the last event"}. Nothing is copied, and neither disturbs the other.</p>
      <label class="stack small">Name (may be left empty)
        <input class="field" value=${name} onInput=${(event) => setName(event.target.value)} maxlength="120" />
      </label>
      ${error && html`<p class="notice bad" role="alert">${error.message} ${error.hint}</p>`}
      <div class="row"><button class="button primary">Fork</button></div>
    </form>
  </${Panel}>`;
}
