// What waits for a task, directly or not.

// Task to the tasks that directly wait for it and are not finished.
export function waitersOf(nodes) {
  const waiters = new Map();
  for (const node of nodes) {
    for (const id of node.waits_for ?? []) {
      if (!waiters.has(id)) waiters.set(id, []);
      waiters.get(id).push(node.id);
    }
  }
  return waiters;
}

// All that wait for a task, itself included; and those that it alone blocks.
export function reachOf(id, waiters, byId) {
  const all = new Set([id]);
  for (const one of all) for (const other of waiters.get(one) ?? []) all.add(other);
  const ready = (waiters.get(id) ?? []).filter((other) => byId.get(other).waits_for.length === 1 && byId.get(other).state === "blocked");
  return { all, ready: new Set(ready) };
}
