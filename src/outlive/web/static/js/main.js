// Starts the page: signs in with the token of the address, then shows what the path names.
import { html, render, useEffect, useState } from "./html.js";
import { get, post } from "./api.js";
import { match, navigate, usePath } from "./router.js";
import { Shell } from "./shell.js";
import { Empty, Failed, Loading } from "./ui/states.js";

// [pattern, section of the navigation, how the page is loaded]. A page is loaded when it is first shown.
const ROUTES = [
  ["/w/:workspace/sessions", "sessions", async () => (await import("./pages/sessions.js")).Sessions],
  ["/w/:workspace/sessions/:session", "sessions", async () => (await import("./pages/session/session.js")).Session],
  ["/w/:workspace/talk", "sessions", async () => (await import("./pages/talk/new.js")).NewSession],
  ["/w/:workspace/tasks", "tasks", async () => (await import("./pages/tasks/tasks.js")).Tasks],
  ["/w/:workspace/fleet", "fleet", async () => (await import("./pages/fleet/fleet.js")).Fleet],
  ["/w/:workspace/memory", "memory", async () => (await import("./pages/memory/memory.js")).Memory],
  ["/w/:workspace/replay", "replay", async () => (await import("./pages/replay/replay.js")).Replay],
  ["/all", "all", async () => (await import("./pages/everywhere.js")).Everywhere],
  ["/learn", "learn", async () => (await import("./pages/learn/learn.js")).Learn],
  ["/learn/:lesson", "learn", async () => (await import("./pages/learn/learn.js")).Learn],
];

// The token came behind `#`, so it is in no log; here it leaves the address bar and the history, too.
async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname + location.search);
    await post("/api/enter", { token });
  }
  return get("/api/about");
}

function App() {
  const [about, setAbout] = useState(null);
  const [error, setError] = useState(null);
  const path = usePath();
  useEffect(() => {
    enter().then(setAbout, setError);
  }, []);
  useEffect(() => {
    if (about && path === "/") navigate(`/w/${about.workspaces[0].id}/sessions`, { replace: true });
  }, [about, path]);
  if (error) return html`<main class="content"><${SignIn} error=${error} /></main>`;
  if (!about) return html`<${Loading} what="Connecting" />`;
  for (const [pattern, section, load] of ROUTES) {
    const found = match(pattern, path);
    if (found) {
      return html`<${Shell} about=${about} workspace=${found.workspace ?? about.workspaces[0].id} section=${section} page=${path.split("?")[0]}>
        <${Loader} key=${pattern + JSON.stringify(found)} load=${load} about=${about} ...${found} />
      </${Shell}>`;
    }
  }
  return html`<${Shell} about=${about} workspace=${about.workspaces[0].id} section="">
    <div class="page"><${Empty} title="There is no such page"><p>${path}</p></${Empty}></div>
  </${Shell}>`;
}

function Loader({ load, ...props }) {
  const [Page, setPage] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    load().then((found) => setPage(() => found), setError);
  }, []);
  if (error) return html`<${Failed} error=${error} retry=${() => location.reload()} />`;
  return Page ? html`<${Page} ...${props} />` : html`<${Loading} />`;
}

const SignIn = ({ error }) =>
  error.status === 401
    ? html`<${Empty} title="This browser is not signed in">
        <p>Open the address that <code>outlive web</code> printed. It ends with a token, which is needed once.</p>
      </${Empty}>`
    : html`<${Failed} error=${error} retry=${() => location.reload()} />`;

render(html`<${App} />`, document.getElementById("app"));
