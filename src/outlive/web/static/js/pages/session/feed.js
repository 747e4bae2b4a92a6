// The items and columns of a session: a page of them, then what happens. Nothing is missed and nothing comes twice:
// the stream goes on after the last event of the page that was read, and its messages replace what they repeat.
import { useCallback, useEffect, useRef, useState } from "../../html.js";
import { get, withQuery } from "../../api.js";
import { subscribe } from "../../stream/connection.js";

const MOST = 500; // items that are kept in the page
const PAGE = 60;

const EMPTY = { items: null, columns: null, older: 0, newer: 0, takenBack: { ranges: [], passes: [] }, damage: [], lastEvent: 0 };

export function useSession(workspace, session, event) {
  const base = `/api/w/${workspace}/sessions/${encodeURIComponent(session)}`;
  const [state, setState] = useState(EMPTY);
  const [error, setError] = useState(null);
  const [round, setRound] = useState(0);
  const known = useRef(EMPTY);
  known.current = state;
  const change = (values) => setState((old) => ({ ...old, ...(typeof values === "function" ? values(old) : values) }));

  const place = useCallback(
    async (query) => {
      const { page, damage } = await get(withQuery(`${base}/items`, { limit: PAGE, ...query }));
      change({ items: page.items, older: page.older, newer: page.newer, takenBack: page.taken_back, damage });
      return page.last_event;
    },
    [base],
  );

  useEffect(() => {
    let end = null;
    let ended = false;
    const reload = () => setRound((number) => number + 1);
    const listen = (after) => {
      end = subscribe({ kind: "log", workspace, session, after }, (kind, data) => {
        if (kind === "grown") change((old) => merged(old, data));
        else if (kind === "reload") reload();
      });
    };
    const start = async () => {
      try {
        const [last, window] = await Promise.all([place(event ? { around: event } : {}), get(`${base}/window`)]);
        if (ended) return;
        const after = Math.min(last, window.last_event);
        change({ columns: window.columns.map((row) => column(row, window.fields)), lastEvent: after, fields: window.fields });
        setError(null);
        listen(after);
      } catch (problem) {
        if (!ended) setError(problem);
      }
    };
    start();
    return () => {
      ended = true;
      end?.();
    };
  }, [base, round]);

  useEffect(() => {
    const { items, newer } = known.current;
    const isThere = items?.length && items[0].id <= event && (!newer || event <= items.at(-1).id);
    if (event && items && !isThere) place({ around: event }).catch(setError);
  }, [event]);

  const more = async (older) => {
    const { items } = known.current;
    const query = older ? { before: items[0]?.id } : { after: items.at(-1)?.id };
    const { page } = await get(withQuery(`${base}/items`, { limit: PAGE, ...query }));
    change((old) => joined(old, page, older));
  };

  return {
    ...state,
    error,
    reload: () => setRound((number) => number + 1),
    showOlder: () => more(true).catch(setError),
    showNewer: () => more(false).catch(setError),
    showNewest: () => place({}).catch(setError),
  };
}

export const column = (row, fields) => Object.fromEntries(fields.map((name, at) => [name, row[at]]));

// The item that shows an event: its own, that of the call whose result it is, else the one before it.
export function itemOf(items, event) {
  const isPart = (item) => item.id === event || item.parts?.some((part) => part.call?.result?.event === event);
  return (items.find(isPart) ?? items.findLast((item) => item.id <= event))?.id ?? 0;
}

// Whether an event is not in force any more.
export const isTakenBack = ({ ranges, passes }, event) =>
  passes.includes(event) || ranges.some(([first, last]) => first <= event && event <= last);

function merged(old, { last_event: lastEvent, items: found, columns: rows, taken_back: takenBack }) {
  const byId = new Map(found.map((item) => [item.id, item]));
  const last = old.items.at(-1)?.id ?? 0;
  let items = old.items.map((item) => byId.get(item.id) ?? item);
  const fresh = found.filter((item) => item.id > last);
  let { older, newer } = old;
  if (newer) newer += fresh.filter((item) => item.id > old.lastEvent).length;
  else items = [...items, ...fresh];
  if (items.length > MOST && !newer) {
    older += items.length - MOST;
    items = items.slice(-MOST);
  }
  items = items.map((item) => (isTakenBack(takenBack, item.id) === Boolean(item.undone) ? item : { ...item, undone: !item.undone }));
  let { columns } = old;
  if (rows.length && columns) {
    columns = columns.slice();
    for (const [at, row] of rows) columns[at] = column(row, old.fields);
  }
  return { items, older, newer, columns, lastEvent, takenBack };
}

// A page before or after the items that are there; the other end makes room.
function joined(old, page, older) {
  if (older) {
    const items = [...page.items, ...old.items];
    const over = Math.max(0, items.length - MOST);
    return { items: items.slice(0, items.length - over), older: page.older, newer: old.newer + over };
  }
  const items = [...old.items, ...page.items];
  const over = Math.max(0, items.length - MOST);
  return { items: items.slice(over), older: old.older + over, newer: page.newer };
}
