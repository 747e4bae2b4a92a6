// What a session does now.
import { html } from "../../html.js";
import { Badge } from "../../ui/parts.js";

export const STATUS = {
  working: { name: "working", tone: "good", pulse: true, about: "A process has it open, and the model or a tool is at work." },
  approval: { name: "needs approval", tone: "warn", pulse: true, about: "A tool call waits for your permission." },
  waiting: { name: "waiting for you", tone: "accent", about: "It is open somewhere, and it is your turn." },
  interrupted: { name: "can be resumed", tone: "bad", about: "Its process ended in the middle of a turn. Nothing is lost." },
  stopped: { name: "stopped", tone: "", about: "It ended after an answer." },
};

export function StatusBadge({ status }) {
  const { name, tone, pulse, about } = STATUS[status];
  return html`<${Badge} tone=${tone} pulse=${pulse} title=${about}>${name}</${Badge}>`;
}
