// Requests to the server, and streams of what changes.
import { useCallback, useEffect, useState } from "./html.js";

export class ApiError extends Error {
  constructor(status, { message, hint = "", code = "" }) {
    super(message);
    this.status = status;
    this.hint = hint;
    this.code = code;
  }
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { message: "The server does not answer.", hint: "Is `outlive web` still running?", code: "offline" });
  }
  if (response.status === 204) return null;
  const type = response.headers.get("content-type") ?? "";
  const value = type.startsWith("application/json") ? await response.json() : await response.text();
  if (!response.ok) throw new ApiError(response.status, value.error ?? { message: `The server answered ${response.status}.` });
  return value;
}

export const get = (path, signal) => ask(path, { signal });

export function post(path, body = {}) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

export function upload(path, file, signal) {
  return ask(path, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file, signal });
}

// A path with its query; empty values are left out.
export function withQuery(path, values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value != null));
  return query.size ? `${path}?${query}` : path;
}

// {data, error, loading, reload}. While it loads again, the old data stays.
export function useData(path) {
  const [state, setState] = useState({ data: null, error: null, loading: true, path });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!path) return undefined;
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true, data: old.path === path ? old.data : null }));
    get(path, abort.signal).then(
      (data) => setState({ data, error: null, loading: false, path }),
      (error) => error.name !== "AbortError" && setState((old) => ({ ...old, error, loading: false, path })),
    );
    return () => abort.abort();
  }, [path, round]);
  const reload = useCallback(() => setRound((number) => number + 1), []);
  return { ...state, reload };
}

const streams = new Map();

// One stream of changes a workspace, however many components listen.
function changesOf(workspace) {
  if (!streams.has(workspace)) {
    const listeners = new Set();
    const source = new EventSource(`/api/w/${workspace}/changes`);
    let wasOpen = false;
    source.onopen = () => {
      if (wasOpen) for (const listener of listeners) listener(null); // something may have changed meanwhile
      wasOpen = true;
    };
    source.addEventListener("changed", (event) => {
      const { what } = JSON.parse(event.data);
      for (const listener of listeners) listener(what);
    });
    streams.set(workspace, { listeners, source });
  }
  return streams.get(workspace);
}

// A browser has few connections for one host, so a stream without listeners is closed.
function leave(workspace, listener) {
  const { listeners, source } = streams.get(workspace);
  listeners.delete(listener);
  if (listeners.size) return;
  source.close();
  streams.delete(workspace);
}

// Calls `react` when tasks, sessions or memories (`what`) of a workspace changed, also in another process.
export function useChanges(workspace, what, react) {
  useEffect(() => {
    const listener = (changed) => (changed === null || changed === what) && react();
    changesOf(workspace).listeners.add(listener);
    return () => leave(workspace, listener);
  }, [workspace, what, react]);
}
