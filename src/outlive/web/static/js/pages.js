// A long list that is loaded in pages, as far as its rows are looked at.
import { useCallback, useEffect, useRef, useState } from "./html.js";
import { get, withQuery } from "./api.js";

const SIZE = 100;

// {head, count, at, peek, error, loading, reload}. `items` names the rows in an answer, `head` is the newest answer.
// `at(n)` is a row that is shown, undefined until it has come; `peek(n)` is a row only if it is there already.
// Rows of an older question stay until the new one is answered.
export function usePages(path, values, items) {
  const asked = withQuery(path, values);
  const [state, setState] = useState({ asked: null, head: null, pages: new Map(), error: null });
  const [waiting, setWaiting] = useState(0);
  const seen = useRef(new Set());
  const pending = useRef(new Set());
  const current = useRef(asked);
  current.current = asked;

  const load = useCallback((page, of) => {
    const key = `${of} ${page}`;
    if (pending.current.has(key)) return;
    pending.current.add(key);
    setWaiting((number) => number + 1);
    const done = (change) => {
      pending.current.delete(key);
      setWaiting((number) => number - 1);
      if (of === current.current) setState(change);
    };
    get(withQuery(path, { ...values, skip: page * SIZE, limit: SIZE })).then(
      (answer) =>
        done((old) => ({
          asked: of,
          head: answer,
          error: null,
          pages: new Map(old.asked === of ? old.pages : []).set(page, answer[items]),
        })),
      (error) => done((old) => ({ ...old, error })),
    );
  }, [asked]);

  const reload = useCallback(() => {
    const pages = seen.current.size ? [...seen.current] : [0];
    setState((old) => ({ ...old, pages: new Map([...old.pages].filter(([page]) => pages.includes(page))) }));
    for (const page of pages) load(page, asked);
  }, [load]);

  useEffect(() => {
    seen.current = new Set();
    load(0, asked);
  }, [asked]);

  seen.current = new Set();
  const peek = (number) => state.pages.get(Math.floor(number / SIZE))?.[number % SIZE];
  const at = (number) => {
    const page = Math.floor(number / SIZE);
    seen.current.add(page);
    if (!state.pages.has(page) && state.asked === asked && !state.error) queueMicrotask(() => load(page, asked));
    return peek(number);
  };
  return { head: state.head, count: state.head?.total ?? 0, at, peek, error: state.error, loading: waiting > 0, reload };
}
