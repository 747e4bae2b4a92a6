// The words of the first lesson.
import { html } from "../../../html.js";
import { Commands } from "../own.js";

export const STEPS = [
  {
    key: "look",
    title: "A plan is a graph",
    text: html`<p>An <b>agent</b> is a program in which a language model does work step by step. Its plan is a set of <b>tasks</b>.</p>
      <p>An arrow means “must be finished before”. A task is <b>ready</b> when everything it waits for is finished, else it is <b>blocked</b>.</p>
      <p>Each task is a file: <code>task_1.json</code>, <code>task_2.json</code> and so on, in a scratch folder made for you.</p>`,
    task: "Click a box in the picture (or press Tab and Enter) and look at its file.",
    after: "This is the real file. The line status says how far it is; blockedBy lists what it waits for.",
  },
  {
    key: "complete",
    title: "Complete a task",
    text: html`<p>Only ready tasks can be worked on. When the last thing a task waits for is finished, it becomes ready by itself.</p>
      <p>Watch the files. Lines that change on disk light up.</p>`,
    task: "Choose a ready task, such as task 1, and press “Complete”.",
    after: "Something became ready. Look into its file, too: its blockedBy is empty now.",
  },
  {
    key: "join",
    title: "All, not one",
    text: html`<p>“Answer queries” (task 4) waits for two tasks: the parser (2) and the index (3).</p>
      <p>One finished dependency is not enough.</p>`,
    task: "Complete 2, look at 4, then complete 3.",
    after: "Task 4 became ready only when both were finished.",
  },
  {
    key: "refused",
    title: "What cannot be done",
    text: html`<p>The rules are kept by the store, not by good manners. It says no, and why, to people and agents alike.</p>`,
    task: "Choose a blocked task, such as “Release”, and try to complete it.",
    after: "Refused. Nothing was written: no file has changed.",
  },
  {
    key: "cycle",
    title: "Make a cycle",
    text: html`<p>If A waits for B and B waits for A, nothing can ever start. That is a <b>cycle</b>.</p>
      <p>A cycle can be long, by way of many tasks. So each new arrow is checked.</p>`,
    task: "Choose task 1. Let it wait for task 7, which waits for task 1 by way of others.",
    after: "The refusal names the whole cycle, so that you see which arrow to remove.",
  },
  {
    key: "reopen",
    title: "Take it back",
    text: html`<p>Work that was finished may turn out to be wrong. <b>Reopening</b> a task makes it pending again.</p>
      <p>What waits for it is blocked again. Nothing has to remember to do that: blockedBy is worked out from the status of the others.</p>`,
    task: "Reopen a completed task that others wait for, such as task 2.",
    after: "Its dependents are blocked again, in the picture and in their files.",
  },
  {
    key: "claim",
    title: "A worker takes a task",
    text: html`<p>Now other programs join in. A <b>worker</b> is a process that takes a ready task and works on it.</p>
      <p>To take it, it <b>claims</b> it. A claim is a <b>lease</b>: it holds for a short time, here 8 seconds, and the worker renews it while it lives.</p>`,
    task: "Start ada. She is a real process on your machine.",
    after: "ada holds a task. Watch the clock: it jumps back up each time she renews the lease.",
  },
  {
    key: "kill",
    title: "Kill the worker",
    text: html`<p>Programs die: power fails, memory runs out. <code>kill -9</code> ends a process at once; it can say nothing more.</p>
      <p>Its task stays in its name until the lease runs out. Then it is free again. Nobody has to clean up.</p>`,
    task: "Kill ada, and wait until her lease runs out.",
    after: "The lease ran out, and the task is ready again. The history below says so.",
  },
  {
    key: "takeover",
    title: "Another takes over",
    text: html`<p>bob is a second worker. He gets what is ready, so also what ada left.</p>
      <p>What if ada was not dead, only slow? Each claim has a <b>token</b>, a number that grows. ada's old token no longer counts.</p>`,
    task: "Start bob. Then let “late ada” try to complete her task with the old token.",
    after: "Refused: the token is stale. So one piece of work is never finished by two.",
  },
  {
    key: "own",
    title: "Do it in your own project",
    text: html`<p>The same graph for your project, as files that git can keep. Agents use it by themselves; you can too.</p>
      <${Commands}
        lines=${[
          "# in a project of yours",
          'outlive task create "Design the schema"',
          'outlive task create "Write the parser" --blocked-by 1',
          "outlive task ready",
          "outlive task claim --owner me",
          "outlive task complete 1",
          "outlive task graph --all",
        ]} />
      <p>See it in the browser with <code>outlive web</code>.</p>`,
    next: "/learn/survival",
    nextName: "On to lesson 2",
  },
];
