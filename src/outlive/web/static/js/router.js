// Paths of the page: plain links, the browser's own back button.
import { html, useEffect, useLayoutEffect, useState } from "./html.js";

const moved = new Set();

// `keep`: stay where the page is scrolled to, as when only a panel opens.
export function navigate(path, { replace = false, keep = replace } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  for (const listener of moved) listener();
  if (!keep) window.scrollTo(0, 0);
}

export function usePath() {
  const [path, setPath] = useState(location.pathname + location.search);
  useEffect(() => {
    const listener = () => setPath(location.pathname + location.search);
    moved.add(listener);
    addEventListener("popstate", listener);
    return () => {
      moved.delete(listener);
      removeEventListener("popstate", listener);
    };
  }, []);
  return path;
}

// The values of the query, and a function that changes some of them; an empty value takes its name away.
export function useQuery() {
  const [path, search = ""] = usePath().split("?");
  const query = Object.fromEntries(new URLSearchParams(search));
  const change = (values, options = {}) => {
    const rest = new URLSearchParams(Object.entries({ ...query, ...values }).filter(([, value]) => value !== "" && value != null));
    navigate(rest.size ? `${path}?${rest}` : path, { keep: true, ...options });
  };
  return [query, change];
}

// The thing that the address names and a panel shows beside the page: functions to open and close it (Esc does, too),
// and one for the attributes of a link to it.
export function useSelection(name, selected, change) {
  const shown = () => new URLSearchParams(location.search).get(name);
  const open = (value) => String(value) !== shown() && change({ [name]: value });
  const close = () => shown() !== null && change({ [name]: null }); // a dialog may tell twice that it closes
  useLayoutEffect(() => {
    if (selected === null) return undefined;
    const leave = (event) => event.key === "Escape" && !document.querySelector("dialog[open]") && close();
    addEventListener("keydown", leave);
    return () => removeEventListener("keydown", leave);
  });
  const link = (value) => {
    const query = new URLSearchParams(location.search);
    query.set(name, value);
    return { href: `${location.pathname}?${query}`, onClick: (event) => follow(event, () => open(value)) };
  };
  return { open, close, link };
}

// Follow a link within the page, unless the click is to open a tab or a menu.
function follow(event, go) {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go();
}

export function Link({ to, children, ...rest }) {
  return html`<a href=${to} onClick=${(event) => follow(event, () => navigate(to))} ...${rest}>${children}</a>`;
}

// Matches "/w/:workspace/sessions/:session"; returns the named parts, or null.
export function match(pattern, path) {
  const wanted = pattern.split("/");
  const given = path.split("?")[0].replace(/\/+$/, "").split("/");
  if (wanted.length !== given.length) return null;
  const found = {};
  for (const [at, part] of wanted.entries()) {
    if (part.startsWith(":")) {
      const value = decoded(given[at]);
      if (!value) return null;
      found[part.slice(1)] = value;
    } else if (part !== given[at]) return null;
  }
  return found;
}

// Empty for a part that is not an address, as "%E0%".
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
