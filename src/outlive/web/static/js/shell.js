// The frame around every page: navigation, workspaces, theme.
import { html, useEffect, useRef, useState } from "./html.js";
import { useChanges } from "./live.js";
import { Link, navigate } from "./router.js";
import { setPlace, setTitle } from "./title.js";
import { Banner } from "./ui/banner.js";
import { Keys } from "./ui/keys.js";

const SECTIONS = [
  ["sessions", "Sessions"],
  ["tasks", "Tasks"],
  ["fleet", "Fleet"],
  ["memory", "Memory"],
  ["replay", "Replay"],
];
const TITLES = { ...Object.fromEntries(SECTIONS), learn: "Learn", all: "All workspaces" };
const NOTHING = () => {};
const THEMES = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" };

export function Shell({ about, workspace, section, page, children }) {
  const here = about.workspaces.find((one) => one.id === workspace) ?? about.workspaces[0];
  useChanges(here.id, "", NOTHING); // every page notices when the server is gone
  useEffect(() => {
    setPlace(here.name);
    setTitle(TITLES[section] ?? "");
  }, [here.name, section, page]);
  // What had the focus may have gone with the page before: the keyboard goes on in the new one, and readers say its name.
  const main = useRef(null);
  const shown = useRef(page);
  useEffect(() => {
    if (shown.current !== page && document.activeElement === document.body) main.current.focus({ preventScroll: true });
    shown.current = page;
  }, [page]);
  return html`<a class="skip" href="#content">Skip to the content</a>
    <div class="shell">
      <header class="side">
        <${Link} to="/" class="brand" aria-label="outlive"><img src="/static/icon.svg" alt="" />outlive</${Link}>
        <nav aria-label="Pages">
          ${SECTIONS.map(([key, name]) => html`<${NavLink} to=${`/w/${here.id}/${key}`} current=${key === section}>${name}</${NavLink}>`)}
          ${about.workspaces.length > 1 && html`<${NavLink} to="/all" current=${section === "all"}>All workspaces</${NavLink}>`}
          <${NavLink} to="/learn" current=${section === "learn"}>Learn</${NavLink}>
        </nav>
        <div class="foot">
          ${about.workspaces.length > 1 && html`<${WorkspaceMenu} workspaces=${about.workspaces} here=${here} section=${section} />`}
          <${ThemeButton} />
          <span class="version" title=${here.path}>${here.name} · ${about.control ? "control" : "read only"} · ${about.version}</span>
        </div>
      </header>
      <main class="content" id="content" tabindex="-1" aria-label=${TITLES[section]} ref=${main}><${Banner} />${children}</main>
      <${Keys} />
    </div>`;
}

const NavLink = ({ to, current, children }) =>
  html`<${Link} to=${to} aria-current=${current ? "page" : undefined}>${children}</${Link}>`;

function WorkspaceMenu({ workspaces, here, section }) {
  const choose = (event) => navigate(`/w/${event.target.value}/${SECTIONS.some(([key]) => key === section) ? section : "sessions"}`);
  return html`<select class="field" aria-label="Workspace" value=${here.id} onChange=${choose}>
    ${workspaces.map((one) => html`<option value=${one.id} title=${one.path}>${one.name}</option>`)}
  </select>`;
}

function ThemeButton() {
  const [theme, setTheme] = useState(localStorage.getItem("theme") ?? "auto");
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  const names = Object.keys(THEMES);
  const next = () => setTheme(names[(names.indexOf(theme) + 1) % names.length]);
  return html`<button class="button plain small" onClick=${next}>${THEMES[theme]}</button>`;
}
