// Requests to the server.
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
