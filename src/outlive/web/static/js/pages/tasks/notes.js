// What is said where there are no tasks, or where some could not be read.
import { html } from "../../html.js";
import { Empty } from "../../ui/states.js";

export const LeftOut = ({ texts }) =>
  texts.map((text) => html`<p class="small task-left-out" key=${text}>Left out: ${text} (outlive task doctor tells more)</p>`);

export const NoTasks = ({ filtered }) =>
  filtered
    ? html`<${Empty} title="No task matches"><p>Take a filter away, or look among archived tasks too.</p></${Empty}>`
    : html`<${Empty} title="No tasks here yet">
        <p>Tasks outlive the conversation: they are kept on disk, and agents, people and programs share them.</p>
        <pre>outlive task create "Write the parser"</pre>
      </${Empty}>`;
