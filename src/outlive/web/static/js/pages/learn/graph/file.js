// A task file as it is on disk; the lines that the last change wrote are lit.
import { html } from "../../../html.js";

export function TaskFile({ folder, files, before, changed, chosen, choose }) {
  const name = `task_${chosen}.json`;
  const lines = (files[name] ?? "").trimEnd().split("\n");
  const lit = before?.[name] !== undefined ? newLines(before[name].trimEnd().split("\n"), lines) : new Set();
  return html`<section class="card task-file" aria-label="The file on disk">
    <header class="stack">
      <div class="row"><h2>${name}</h2><span class="small muted clip grow" title=${folder}>${folder}</span></div>
      <div class="row file-tabs" role="group" aria-label="Files">
        ${Object.keys(files).map((one) => {
          const id = Number(one.match(/\d+/)[0]);
          const isNew = changed.includes(one);
          return html`<button
            key=${one} class=${isNew ? "changed" : ""} aria-pressed=${id === chosen} onClick=${() => choose(id)}
            aria-label=${`${one}${isNew ? ", changed" : ""}`}>${id}${isNew ? " •" : ""}</button>`;
        })}
        <span class="small muted">${changed.length ? `• changed by the last step` : ""}</span>
      </div>
    </header>
    <pre class="learn-code" tabindex="0" aria-label=${`Text of ${name}`}>${lines.map((line, number) =>
      lit.has(number) ? html`<mark key=${number}>${line + "\n"}</mark>` : line + "\n",
    )}</pre>
  </section>`;
}

// Numbers of the lines in `now` that a longest common subsequence with `old` leaves over.
export function newLines(old, now) {
  const length = Array.from({ length: old.length + 1 }, () => new Array(now.length + 1).fill(0));
  for (let a = old.length - 1; a >= 0; a--) {
    for (let b = now.length - 1; b >= 0; b--) {
      length[a][b] = old[a] === now[b] ? length[a + 1][b + 1] + 1 : Math.max(length[a + 1][b], length[a][b + 1]);
    }
  }
  const found = new Set();
  let [a, b] = [0, 0];
  while (b < now.length) {
    if (a < old.length && old[a] === now[b]) [a, b] = [a + 1, b + 1];
    else if (a < old.length && length[a + 1][b] >= length[a][b + 1]) a++;
    else found.add(b++);
  }
  return found;
}
