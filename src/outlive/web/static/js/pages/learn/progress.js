// Who the visitor is (for this tab), and how far they are (kept in this browser).
import { useCallback, useState } from "../../html.js";

// A random id, made once a tab. The server keeps a scratch store for it.
export function visitor() {
  let id = sessionStorage.getItem("learn-visitor");
  if (!/^[0-9a-f]{32}$/.test(id ?? "")) {
    id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    sessionStorage.setItem("learn-visitor", id);
  }
  return id;
}

export function readJson(key, otherwise) {
  try {
    return { ...otherwise, ...JSON.parse(localStorage.getItem(key) ?? "{}") };
  } catch {
    return otherwise;
  }
}

export function readProgress(lesson) {
  const { at, done } = readJson(`learn-${lesson}`, { at: 0, done: [] });
  return { at: Number.isInteger(at) ? at : 0, done: Array.isArray(done) ? done : [] };
}

// {at, done, go, mark, reset}: the step shown, and the keys of the steps that were done.
export function useProgress(lesson, steps) {
  const [state, setState] = useState(() => readProgress(lesson));
  const change = useCallback(
    (make) =>
      setState((old) => {
        const made = make(old);
        localStorage.setItem(`learn-${lesson}`, JSON.stringify(made));
        return made;
      }),
    [lesson],
  );
  return {
    at: Math.min(Math.max(state.at, 0), steps.length - 1),
    done: state.done,
    go: (at) => change((old) => ({ ...old, at })),
    mark: useCallback(
      (key) => change((old) => (old.done.includes(key) ? old : { ...old, done: [...old.done, key] })),
      [change],
    ),
    reset: () => change(() => ({ at: 0, done: [] })),
  };
}
