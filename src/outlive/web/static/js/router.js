// Paths of the page: plain links, the browser's own back button.
import { html, useEffect, useState } from "./html.js";

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

export function Link({ to, children, ...rest }) {
  const follow = (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return html`<a href=${to} onClick=${follow} ...${rest}>${children}</a>`;
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
