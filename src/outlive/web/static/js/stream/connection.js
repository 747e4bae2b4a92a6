// What this tab listens to, by way of the worker that all tabs share. A tab that is hidden listens to nothing.
import { useEffect, useState } from "../html.js";
import { SharedStream } from "./shared.js";

const listeners = new Map(); // by name: {topic, listen}
const watchers = new Set();
const own = [...crypto.getRandomValues(new Uint32Array(2))].map((part) => part.toString(36)).join("");
let count = 0;
let status = "online";
let send = null;

function report(now) {
  status = now;
  for (const watcher of watchers) watcher(now);
}

function deliver(name, { event, data }) {
  const found = listeners.get(name);
  if (!found) return;
  if (event !== "refused" && data?.last_event) found.topic.after = data.last_event;
  found.listen(event, data);
}

// Browsers without shared workers (some on phones) have a stream in each tab.
function inThisTab() {
  const stream = new SharedStream(deliver, report);
  return ({ add = [], remove = [] }) => {
    for (const name of remove) stream.remove(name);
    for (const [name, topic] of add) stream.add(name, topic);
  };
}

function inTheWorker() {
  const worker = new SharedWorker(new URL("./worker.js", import.meta.url), { type: "module", name: "outlive" });
  worker.port.onmessage = ({ data }) => (data.status ? report(data.status) : deliver(data.name, data));
  worker.onerror = () => {
    send = inThisTab();
    listen();
  };
  return (message) => worker.port.postMessage(message);
}

function listen() {
  send({ add: [...listeners].map(([name, { topic }]) => [name, topic]) });
}

function pause(leave) {
  send({ remove: [...listeners.keys()], leave });
}

function connect() {
  send = "SharedWorker" in window ? inTheWorker() : inThisTab();
  document.addEventListener("visibilitychange", () => (document.hidden ? pause(false) : listen()));
  addEventListener("pagehide", () => pause(true));
  addEventListener("pageshow", ({ persisted }) => persisted && listen());
}

// Calls `listen(event, data)` for each message of a topic; returns a function that ends it.
export function subscribe(topic, listen) {
  if (!send) connect();
  const name = `${own}.${count++}`;
  listeners.set(name, { topic, listen });
  if (!document.hidden) send({ add: [[name, topic]] });
  return () => {
    listeners.delete(name);
    send({ remove: [name] });
  };
}

// online, offline, busy (too many connections) or signed-out.
export function useStatus() {
  const [seen, setSeen] = useState(status);
  useEffect(() => {
    setSeen(status);
    watchers.add(setSeen);
    return () => watchers.delete(setSeen);
  }, []);
  return seen;
}
