// The words of the second lesson.
import { html } from "../../../html.js";
import { Commands } from "../own.js";

export const STEPS = [
  {
    key: "request",
    title: "What a model sees",
    text: html`<p>A language model remembers nothing between two answers. Each time it is sent one <b>request</b>: all that was said and done so far.</p>
      <p>Its length is counted in <b>tokens</b>, about four letters each. The <b>window</b> is the most that fits. Here is a recorded session of an agent that looks for a bug in a web shop.</p>`,
    task: "Open “What the model would read now” below and look around.",
    after: "Your words, the agent's words, files it read, and a state block at the end: that is all it knows.",
  },
  {
    key: "lists",
    title: "Two lists",
    text: html`<p>The agent keeps its six items twice. Once as a <b>to-do list</b> in its own words, so in the conversation. Once as <b>tasks</b>, in files.</p>
      <p>In a window of 48,000 tokens everything fits, and both lists say the same: three of six are done.</p>`,
  },
  {
    key: "shrink",
    title: "Drag the window smaller",
    text: html`<p>When a request no longer fits, something has to leave. That is a <b>pass</b>: older parts are replaced by a short <b>digest</b>.</p>
      <p>The session is played again at each window you choose, by the real engine. In the picture a column is one request, and ▼ is a pass.</p>`,
    task: "Drag the window below 30,000 tokens.",
    after: "Look at the two lists: the to-do list has left the window. The tasks are still there, because they are read from disk.",
  },
  {
    key: "recall",
    title: "What left can be recalled",
    text: html`<p>What leaves the window is not lost. It stays in the <b>log</b> on disk, and leaves a <b>handle</b> such as @h4 behind.</p>
      <p>The agent, or you, can ask for the exact text at any time.</p>`,
    task: "Click a handle in the table “Where is it now?”.",
    after: "That is the exact text, read from the log. Many agents cannot do this: what they summarise is gone.",
  },
  {
    key: "compact",
    title: "Press compact",
    text: html`<p>You need not wait until the window is full. In the terminal <code>/compact</code> folds all but the newest part now.</p>
      <p>What you asked, your standing instruction and the open tasks stay word for word, however often you do it.</p>`,
    task: "Press “Compact now”.",
    after: "The receipt of the pass says how much it freed. The log has only grown: a pass can be undone.",
  },
  {
    key: "restart",
    title: "Restart",
    text: html`<p>The session is closed and everything that this server holds of it in memory is dropped. Then the files are opened again and the session is rebuilt from its log, as after the end of a process.</p>
      <p>To compare two requests to the letter we use a <b>fingerprint</b> (SHA-256): if one letter differs, it differs.</p>`,
    task: "Press “Restart the server's session”.",
    after: "The fingerprint is the same: the next request is what it would have been, byte for byte.",
  },
  {
    key: "swap",
    title: "Swap the agent",
    text: html`<p>Tomorrow another agent, perhaps of another maker, goes on. It gets the same stores but begins a conversation of its own.</p>
      <p>It was never told what you asked. What does it know?</p>`,
    task: "Press “Swap the agent”.",
    after: "It asked for the task list and knows what is open. The to-do list stayed in the first agent's log.",
  },
  {
    key: "rungs",
    title: "Rung by rung",
    text: html`<p>A pass can be mild or deep. The kinds of passes form a ladder, and each kind is a <b>rung</b>: the cheapest first.</p>
      <p>Below is the same session at each rung: what was in the window before the pass, and after it.</p>`,
    task: "Look at all six rungs.",
    after: "From the mildest to the emergency: your words, your instruction and the tasks stayed in the window at every rung.",
  },
  {
    key: "own",
    title: "Do it in your own project",
    text: html`<p>Try it on a session that you already have, or on the demo. Nothing is sent anywhere, and no key is needed.</p>
      <${Commands}
        lines=${[
          "# watch a session that is larger than its window",
          "outlive demo --web",
          "# play a session of Claude Code or Codex at a smaller window",
          "outlive replay SESSION.jsonl --window 50000 --report",
          "# get back what left a session",
          "outlive recall @h4",
          "# put it into the agent that you use",
          "outlive init",
        ]} />`,
    next: "/learn/quiz",
    nextName: "On to the quiz",
  },
];
