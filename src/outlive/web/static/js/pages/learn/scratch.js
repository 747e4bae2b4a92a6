// A lesson on the server: its state, actions on it, and what the last action did.
import { useCallback, useEffect, useRef, useState } from "../../html.js";
import { get, post } from "../../api.js";
import { visitor } from "./progress.js";

export const path = (rest) => `/api/learn/${visitor()}/${rest}`;

// {data, error, last, busy, act, restart, reload}. `last` is {op, done, refused} of the last action.
export function useScratch(lesson) {
  const [state, setState] = useState({ data: null, error: null, last: null, busy: false });
  const round = useRef(0); // an answer that is older than a later question is not shown

  const ask = useCallback(async (question, after) => {
    const mine = ++round.current;
    try {
      const data = await question();
      if (mine === round.current) setState((old) => after(old, data));
      return data;
    } catch (error) {
      if (mine === round.current) setState((old) => ({ ...old, error, busy: false }));
      return null;
    }
  }, []);

  // Nothing else is asked while something is done: what it did must be shown.
  const acting = useRef(0);
  const begin = useCallback(
    (question, after) => {
      acting.current += 1;
      setState((old) => ({ ...old, busy: true }));
      return ask(question, after).finally(() => (acting.current -= 1));
    },
    [ask],
  );

  const restart = useCallback(
    () => begin(() => post(path(`${lesson}/start`)), (_, data) => ({ data, error: null, last: null, busy: false })),
    [lesson],
  );

  const reload = useCallback(
    () =>
      !acting.current &&
      ask(
        async () => {
          const found = await get(path(lesson));
          return found.started === false ? post(path(`${lesson}/start`)) : found;
        },
        (old, data) => ({ ...old, data, error: null }),
      ),
    [lesson],
  );

  const act = useCallback(
    (op, form = {}) =>
      begin(
        () => post(path(lesson), { op, ...form }),
        (_, data) => ({ data, error: null, busy: false, last: { op, ...form, done: data.done, refused: data.refused } }),
      ),
    [lesson],
  );

  useEffect(() => {
    reload();
  }, [reload]);
  return { ...state, act, restart, reload };
}
