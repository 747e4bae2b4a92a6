// Data that follows the changes of a workspace without piling up requests.
import { useCallback, useEffect, useRef } from "./html.js";
import { useChanges, useData } from "./api.js";

// Reloads `found` ({loading, reload}) after changes: at once, or when the request under way has been answered.
export function useReloads(workspace, what, found) {
  const state = useRef({ missed: false });
  state.current.found = found;
  const react = useCallback(() => {
    const { found: now } = state.current;
    if (now.loading) state.current.missed = true;
    else now.reload();
  }, []);
  useChanges(workspace, what, react);
  useEffect(() => {
    if (!found.loading && state.current.missed) {
      state.current.missed = false;
      found.reload();
    }
  }, [found.loading]);
}

// Like useData, and loaded again whenever `what` (tasks, sessions, memories) changed.
export function useLive(workspace, what, path) {
  const found = useData(path);
  useReloads(workspace, what, found);
  return found;
}
