// What an agent says and asks while it works. What is in the log already comes with the page of the session.
import { useEffect, useState } from "../../html.js";
import { subscribe } from "../../stream/connection.js";

const EMPTY = { thinking: "", text: "", call: "", waits: "", outputs: {}, helpers: {}, said: 0 };
const MOST_SHOWN = 200_000; // characters of an answer that has not ended
const MOST_OUTPUT = 8_000;

// {state, draft, settle}. `state` is null until the server has told it, and where the page may not talk.
export function useTalk(workspace, session, control) {
  const [seen, setSeen] = useState(NOTHING);
  useEffect(() => {
    setSeen(NOTHING);
    if (!control) return undefined;
    return subscribe({ kind: "talk", workspace, session }, (kind, data) => {
      const change = CHANGES[kind];
      if (change) setSeen((old) => ({ ...old, ...change(data, old) }));
    });
  }, [workspace, session, control]);
  const settle = () => setSeen((old) => ({ ...old, draft: old.draft.said ? withoutAnswer(old.draft) : old.draft }));
  return { ...seen, settle };
}

const NOTHING = { state: null, draft: EMPTY };
const CHANGES = {
  snapshot: ({ state, draft }) => ({ state, draft: { ...EMPTY, ...draft } }),
  state: (state) => ({ state }),
  pieces: (pieces, old) => ({ draft: pieces.reduce(withPiece, old.draft) }),
};

function withPiece(draft, piece) {
  switch (piece.kind) {
    case "text":
    case "thinking": {
      const base = draft.said ? withoutAnswer(draft) : draft;
      return { ...base, waits: "", call: "", [piece.kind]: (base[piece.kind] + piece.text).slice(-MOST_SHOWN) };
    }
    case "call":
      return { ...draft, call: piece.text };
    case "waits":
      return { ...withoutAnswer(draft), waits: piece.text };
    case "output": {
      const output = ((draft.outputs[piece.call] ?? "") + piece.text).slice(-MOST_OUTPUT);
      return { ...draft, outputs: { ...draft.outputs, [piece.call]: output } };
    }
    case "helper":
      return { ...draft, helpers: { ...draft.helpers, [piece.session]: piece.text } };
    case "said": // stays until the page shows it from the log
      return { ...draft, call: "", waits: "", said: piece.event };
    case "finished": {
      const { [piece.call]: done, ...outputs } = draft.outputs;
      return { ...draft, outputs };
    }
    case "ended":
      return { ...draft, call: "", waits: "", outputs: {}, helpers: {}, said: draft.said || -1 };
    default:
      return draft;
  }
}

const withoutAnswer = (draft) => ({ ...draft, thinking: "", text: "", call: "", waits: "", said: 0 });
