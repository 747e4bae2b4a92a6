// The graph of tasks: laid out by the server, moved and lit here.
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../../../html.js";
import { get, withQuery } from "../../../api.js";
import { useReloads } from "../../../live.js";
import { plural } from "../../../format.js";
import { Loaded } from "../../../ui/states.js";
import { useSkew } from "../clock.js";
import { TextFilter } from "../filters.js";
import { NoTasks } from "../notes.js";
import { Picture } from "./picture.js";

export function Graph({ workspace, values, change, open, selected }) {
  const hideFinished = values.finished === "0";
  const found = usePicture(workspace, !hideFinished);
  const skew = useSkew(found.data?.now);
  const { layout } = found;
  return html`<div class="row task-filters">
      <${TextFilter} value=${values.text ?? ""} set=${(text) => change({ text })} label="Find in the graph" />
      <label class="row small"><input type="checkbox" checked=${!hideFinished}
        onChange=${(event) => change({ finished: event.target.checked ? "" : "0" })} />Show finished</label>
    </div>
    <${Loaded} from=${found} what="Drawing the graph">
      ${(picture) =>
        picture.nodes.length
          ? html`<${Picture} layout=${layout} picture=${picture} skew=${skew} find=${values.text ?? ""} open=${open} selected=${selected} />
              <${Notes} picture=${picture} layout=${layout} />`
          : html`<${NoTasks} filtered=${picture.total > 0} />`}
    </${Loaded}>`;
}

// The picture as it is now. Its layout is sent only when ids or dependencies changed.
function usePicture(workspace, finished) {
  const [state, setState] = useState({ data: null, layout: null, error: null, loading: true });
  const [round, setRound] = useState(0);
  const kept = useRef(null);
  useEffect(() => {
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    const path = withQuery(`/api/w/${workspace}/tasks/graph`, { finished: finished ? "1" : "", known: kept.current?.id });
    get(path, abort.signal).then(
      (data) => {
        kept.current = data.layout ?? kept.current;
        setState({ data, layout: kept.current, error: null, loading: false });
      },
      (error) => error.name !== "AbortError" && setState((old) => ({ ...old, error, loading: false })),
    );
    return () => abort.abort();
  }, [workspace, finished, round]);
  const found = { ...state, reload: useCallback(() => setRound((number) => number + 1), []) };
  useReloads(workspace, "tasks", found);
  return found;
}

function Notes({ picture, layout }) {
  const hidden = picture.total - picture.nodes.length;
  const notes = useMemo(() => [
    picture.critical.length > 1 && `Critical path, the longest chain of open tasks: ${chain(picture.critical)}.`,
    hidden > 0 && `${plural(hidden, "task")} not drawn.`,
    layout.left_out > 0 && `${plural(layout.left_out, "dependency", "dependencies")} not drawn, there are too many.`,
    layout.closing.length > 0 && `${plural(layout.closing.length, "dependency closes", "dependencies close")} a cycle.`,
  ].filter(Boolean), [picture, layout]);
  return html`<p class="small muted graph-notes">${notes.join(" ")}</p>`;
}

const chain = (ids) => (ids.length > 12 ? `${ids.slice(0, 6).join(" → ")} → … → ${ids.slice(-3).join(" → ")} (${ids.length} tasks)` : ids.join(" → "));
