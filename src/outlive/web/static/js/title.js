// The title of the document: what the page shows, then the workspace.
let place = "outlive";

export function setPlace(name) {
  place = `${name} · outlive`;
}

export function setTitle(title) {
  const short = title.length > 80 ? `${title.slice(0, 80)}…` : title;
  document.title = short ? `${short} · ${place}` : place;
}
