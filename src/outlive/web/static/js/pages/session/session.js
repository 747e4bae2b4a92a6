// A session: what was said and done, and beside it the window over time. Panels are part of the address.
import { html } from "../../html.js";
import { useLive } from "../../live.js";
import { useQuery } from "../../router.js";
import { Failed, Loading } from "../../ui/states.js";
import { Composer } from "../talk/composer.js";
import { Draft } from "../talk/draft.js";
import { useTalk } from "../talk/stream.js";
import { ApprovalLink } from "./approval.js";
import { Conversation } from "./conversation.js";
import { HandlePanel } from "./handle.js";
import { Head } from "./head.js";
import { PassPanel } from "./pass.js";
import { SessionContext } from "./place.js";
import { useSession } from "./feed.js";
import { ViewPanel } from "./view.js";
import { WindowOverTime } from "./window.js";

export function Session({ workspace, session, about }) {
  const [query, setQuery] = useQuery();
  const base = `/api/w/${workspace}/sessions/${encodeURIComponent(session)}`;
  const feed = useSession(workspace, session, Number(query.event) || 0);
  const talk = useTalk(workspace, session, about.control);
  const { data: known } = useLive(workspace, "sessions", `${base}/summary`, session);
  const place = {
    base,
    workspace,
    session,
    control: about.control,
    dead: ["interrupted", "stopped"].includes(known?.status),
    event: Number(query.event) || 0,
    openPass: (event) => setQuery({ pass: event }),
    openHandle: (handle) => setQuery({ handle: handle.replace("@", "") }),
    openView: (request, options) => setQuery({ at: request }, options),
    showEvent: (event) => setQuery({ event, pass: "", handle: "", at: "" }),
  };
  if (feed.error && !feed.items) return html`<div class="page"><${Failed} error=${feed.error} retry=${feed.reload} /></div>`;
  const working = talk.state?.open && talk.state.working && !talk.state.questions.length;
  const arriving = about.control && html`<${Draft} draft=${talk.draft} working=${working} lastEvent=${feed.lastEvent} newest=${newestAnswer(feed)} settle=${talk.settle} />`;
  return html`<${SessionContext.Provider} value=${place}>
    <div class="page session-page">
      <${Head} known=${known} workspace=${workspace} gauge=${talk.state?.gauge} />
      <${ApprovalLink} questions=${talk.state?.questions} />
      <div class="session-grid">
        <section class="talk card" aria-label="Conversation">
          ${feed.items
            ? html`<${Conversation} feed=${feed} event=${place.event} arriving=${arriving} />`
            : html`<div class="talk-box"><${Loading} what="Reading the log" /></div>`}
          ${about.control && html`<${Composer} workspace=${workspace} session=${session} talk=${talk} />`}
        </section>
        <aside class="window card" aria-label="The window over time">
          <${WindowOverTime} feed=${feed} at=${Number(query.at) || 0} />
        </aside>
      </div>
      ${query.at && feed.columns && html`<${ViewPanel} request=${Number(query.at)} feed=${feed} close=${() => setQuery({ at: "" })} />`}
      ${query.pass && html`<${PassPanel} event=${Number(query.pass)} key=${query.pass} feed=${feed} close=${() => setQuery({ pass: "" })} />`}
      ${query.handle && html`<${HandlePanel} handle=${query.handle} key=${query.handle} close=${() => setQuery({ handle: "" })} />`}
    </div>
  </${SessionContext.Provider}>`;
}

const newestAnswer = ({ items }) => items?.findLast((item) => item.kind === "assistant")?.id ?? 0;
