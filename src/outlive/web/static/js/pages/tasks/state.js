// The states of a task: name, mark and colour. Nothing depends on colour alone.
import { html } from "../../html.js";
import { Badge } from "../../ui/parts.js";

export const STATES = {
  ready: { name: "ready", mark: "○", tone: "accent", about: "Nothing is in its way." },
  in_progress: { name: "in progress", mark: "◐", tone: "warn", about: "Somebody works on it." },
  blocked: { name: "blocked", mark: "◌", tone: "", about: "It waits for other tasks." },
  completed: { name: "completed", mark: "✓", tone: "good", about: "Done." },
  cancelled: { name: "cancelled", mark: "✗", tone: "", about: "It will not be done, and blocks nothing." },
};

export function StateBadge({ state }) {
  if (!STATES[state]) return html`<${Badge} tone="bad">missing</${Badge}>`;
  const { name, mark, tone, about } = STATES[state];
  return html`<${Badge} tone=${tone} title=${about}><span aria-hidden="true">${mark}</span>${name}</${Badge}>`;
}

export const Labels = ({ labels }) =>
  labels.map((label) => html`<span class="task-label" key=${label} dir="auto">${label}</span>`);

export const Priority = ({ value }) => html`<span class="mono ${value < 2 ? "urgent" : "muted"}">P${value}</span>`;
