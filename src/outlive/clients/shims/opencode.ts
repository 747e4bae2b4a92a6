export const Outlive = async ({ client, directory }: any) => {
  const windows = new Map<string, number>();
  const parents = new Map<string, boolean>();
  const compacting = new Set<string>();
  const say = (message: string) => {
    void client.app.log({ body: { service: "outlive", level: "warn", message } }).catch(() => {});
    void client.tui.showToast({ body: { message, variant: "warning" } }).catch(() => {});
  };

  // What may be sent: opencode compacts above it.
  async function window({ providerID, modelID }: any): Promise<number> {
    const key = `${providerID}/${modelID}`;
    if (!windows.has(key)) {
      const found = (await client.config.providers()).data?.providers.find((one: any) => one.id === providerID);
      const { context = 0, input = 0, output = 0 } = found?.models[modelID]?.limit ?? {};
      const answer = Math.min(output || 32_000, 32_000);
      windows.set(key, input ? input - Math.min(20_000, answer) : context - answer);
    }
    return windows.get(key)!;
  }

  // All messages of the session, also those that opencode itself has compacted away.
  async function whole(messages: any[], id: string): Promise<any[]> {
    if (!messages.some((one) => one.parts.some((part: any) => part.type === "compaction"))) return [...messages];
    const given = new Map(messages.map((one) => [one.info.id, one]));
    const all = (await client.session.messages({ path: { id } })).data;
    const end = all.findIndex((one: any) => one.info.id === messages.at(-1).info.id);
    return all.slice(0, end + 1).map((one: any) => given.get(one.info.id) ?? one);
  }

  async function asked(messages: any[], id: string) {
    const user = messages.findLast((one) => one.info.role === "user");
    if (!parents.has(id)) parents.set(id, !!(await client.session.get({ path: { id } })).data?.parentID);
    const { providerID, modelID } = user.info.model;
    // opencode marks the end of a request for Anthropic's cache, and nothing before it; other caches need no marks.
    const caches_front = !/anthropic|claude/.test(`${providerID}/${modelID}`);
    const about = { client: "opencode", session: id, parent: parents.get(id), caches_front };
    return { ...about, window: await window(user.info.model), messages: await whole(messages, id) };
  }

  return {
    "experimental.chat.messages.transform": async (_: any, { messages }: any) => {
      const id = messages[0]?.info.sessionID;
      if (!id || compacting.delete(id)) return; // what opencode is about to summarize
      const request = await asked(messages, id).catch(() => undefined);
      if (!request || request.window < 2000) return;
      const view = (await ask(directory, { do: "view", ...request }, say))?.view;
      const shown = view?.map((one: any) => (typeof one === "number" ? request.messages[one] : one));
      if (shown) messages.splice(0, messages.length, ...shown);
    },
    "experimental.session.compacting": async ({ sessionID }: any, output: any) => {
      compacting.add(sessionID);
      const messages = (await client.session.messages({ path: { id: sessionID } })).data ?? [];
      const request = await asked(messages, sessionID).catch(() => undefined);
      if (!request || request.window < 2000) return;
      const brief = (await ask(directory, { do: "compact", ...request }, say))?.brief;
      if (brief) output.context.push(`Keep this in the summary, word for word:\n${brief}`);
    },
    "experimental.chat.system.transform": async (_: any, output: any) => void output.system.push(NOTE),
    tool: {
      recall: {
        description: RECALL,
        args: { handle: { type: "string" }, query: { type: "string" } },
        async execute({ handle, query }: any, { sessionID }: any) {
          return recall(directory, { do: "recall", client: "opencode", session: sessionID, handle, query });
        },
      },
    },
  };
};
