// One stream from the server that carries many topics. It connects again by itself and goes on where it was.
const RETRY = [500, 1000, 2000, 4000]; // milliseconds between attempts to connect
const SILENCE = 40_000; // without a sign of life the connection is given up; the server sends one every 15 s
const ASK_AGAIN = 2000; // before a topic that has ended is asked for again
const FINAL = ["unknown_session", "unknown_workspace", "read_only", "bad_request"]; // refusals that stay true

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class SharedStream {
  #topics = new Map(); // by name, what is wanted
  #sent = new Set(); // names that the server has been told
  #id = null; // of the stream that is open
  #abort = null;
  #running = false;
  #syncing = false;

  // `deliver(name, {event, data})` gets the messages of topics, `report(status)` one of online, offline, busy, signed-out.
  constructor(deliver, report) {
    this.deliver = deliver;
    this.report = report;
  }

  add(name, topic) {
    this.#topics.set(name, { ...topic });
    this.#sent.delete(name);
    this.#run();
    this.#sync();
  }

  remove(name) {
    this.#topics.delete(name);
    this.#sync();
    // A tab that moves to another page removes its topics just before it adds others.
    if (!this.#topics.size) setTimeout(() => this.#topics.size || this.#abort?.abort(), 200);
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    let failures = 0;
    while (this.#topics.size) {
      const wasOpen = await this.#listen();
      this.#id = null;
      this.#sent.clear();
      if (!this.#topics.size) break;
      failures = wasOpen ? 0 : failures + 1;
      await sleep(RETRY[Math.min(failures, RETRY.length - 1)]);
    }
    this.#running = false;
    if (this.#topics.size) this.#run();
  }

  // Reads the stream until it ends; whether it was open.
  async #listen() {
    const abort = (this.#abort = new AbortController());
    let timer = 0;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), SILENCE);
    };
    try {
      heard();
      const response = await fetch("/api/stream", { signal: abort.signal, credentials: "same-origin" });
      if (!response.ok) {
        this.report({ 401: "signed-out", 503: "busy" }[response.status] ?? "offline");
        return false;
      }
      for await (const { event, data } of messages(response.body, heard)) this.#take(event, data);
    } catch {
      // a stream that was open is opened again before anybody is told
      if (this.#topics.size && this.#id === null) this.report("offline");
    } finally {
      clearTimeout(timer);
    }
    return this.#id !== null;
  }

  #take(event, data) {
    if (event === "open") {
      this.#id = data.stream;
      this.report("online");
      this.#sync();
      return;
    }
    const topic = this.#topics.get(data.topic);
    if (!topic) return;
    if (data.id !== null && data.id !== undefined) topic.after = data.id;
    const ended = event === "behind" || event === "ended" || event === "refused";
    if (ended && !FINAL.includes(data.data?.code)) setTimeout(() => this.#askAgain(data.topic, topic), event === "behind" ? 0 : ASK_AGAIN);
    this.deliver(data.topic, { event, data: data.data });
  }

  #askAgain(name, topic) {
    if (this.#topics.get(name) === topic) this.add(name, topic);
  }

  // Tells the server which topics are wanted; those of one moment go out together.
  async #sync() {
    if (this.#syncing) return;
    this.#syncing = true;
    await Promise.resolve();
    while (this.#id) {
      const id = this.#id;
      const add = Object.fromEntries([...this.#topics].filter(([name]) => !this.#sent.has(name)));
      const remove = [...this.#sent].filter((name) => !this.#topics.has(name));
      if (!remove.length && !Object.keys(add).length) break;
      this.#sent = new Set(this.#topics.keys());
      const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ add, remove }) };
      const response = await fetch(`/api/stream/${id}`, { credentials: "same-origin", ...options }).catch(() => null);
      if (!response?.ok && this.#id === id) {
        this.#abort.abort(); // it connects again and asks for everything
        break;
      }
    }
    this.#syncing = false;
  }
}

// The server-sent events of a body, as they come.
async function* messages(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    heard();
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const fields = Object.fromEntries(rest.slice(0, end).split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]));
      rest = rest.slice(end + 2);
      if (fields.event) yield { event: fields.event, data: JSON.parse(fields.data) };
    }
  }
}
