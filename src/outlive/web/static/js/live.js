// Data that follows the changes of a workspace without piling up requests.
import { useCallback, useEffect, useRef } from "./html.js";
import { useData } from "./api.js";
import { subscribe } from "./stream/connection.js";

const PAUSE = 1000; // milliseconds between two reloads

const workspaces = new Map();

// One topic a workspace, however many components listen.
function changesOf(workspace) {
  if (!workspaces.has(workspace)) {
    const listeners = new Set();
    let begun = false;
    const end = subscribe({ kind: "changes", workspace }, (event, change) => {
      if (event === "changed") for (const listener of listeners) listener(change);
      if (event !== "watching") return;
      if (begun) for (const listener of listeners) listener(null); // something may have changed meanwhile
      begun = true;
    });
    workspaces.set(workspace, { listeners, end });
  }
  return workspaces.get(workspace);
}

function leave(workspace, listener) {
  const { listeners, end } = workspaces.get(workspace);
  listeners.delete(listener);
  if (listeners.size) return;
  end();
  workspaces.delete(workspace);
}

// Calls `react` when tasks, sessions or memories (`what`) of a workspace changed, also in another process.
// With `session` only for this session.
export function useChanges(workspace, what, react, session = "") {
  useEffect(() => {
    const concerns = (change) => change === null || (change.what === what && (!session || change.sessions.includes(session)));
    const listener = (change) => concerns(change) && react();
    changesOf(workspace).listeners.add(listener);
    return () => leave(workspace, listener);
  }, [workspace, what, react, session]);
}

// Reloads `found` ({loading, reload}) after changes: at once, or a while after the last reload has been answered.
export function useReloads(workspace, what, found, session = "") {
  const state = useRef({ missed: false, at: -PAUSE, timer: 0 });
  state.current.found = found;
  const react = useCallback(() => {
    const { current } = state;
    if (current.found.loading) {
      current.missed = true;
      return;
    }
    clearTimeout(current.timer);
    const reload = () => {
      current.at = performance.now();
      current.missed = false;
      current.found.reload();
    };
    const wait = current.at + PAUSE - performance.now();
    if (wait > 0) current.timer = setTimeout(reload, wait);
    else reload();
  }, []);
  useChanges(workspace, what, react, session);
  useEffect(() => {
    if (!found.loading && state.current.missed) react();
  }, [found.loading]);
  useEffect(() => () => clearTimeout(state.current.timer), []);
}

// Like useData, and loaded again whenever `what` (tasks, sessions, memories) changed.
export function useLive(workspace, what, path, session = "") {
  const found = useData(path);
  useReloads(workspace, what, found, session);
  return found;
}
