// A short number by which this browser is told apart from others of the same machine, in the log and in messages.
const KEY = "browser";

export function browserId() {
  let id = localStorage.getItem(KEY);
  if (!id) {
    id = [...crypto.getRandomValues(new Uint8Array(2))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    localStorage.setItem(KEY, id);
  }
  return id;
}
