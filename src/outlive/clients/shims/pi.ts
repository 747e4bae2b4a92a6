import { type ExtensionAPI, SettingsManager, sessionEntryToContextMessages } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  const about = (ctx: any) => ({ client: "pi", session: ctx.sessionManager.getSessionId() });
  const say = (ctx: any) => (text: string) => (ctx.hasUI ? ctx.ui.notify(text, "warning") : console.error(text));
  const windows = new Map<string, number>();
  const segments = new Map<string, number>(); // with how many texts the view of a session begins that stay

  // What may be sent: the window without the room that pi keeps for the answer, where pi would compact.
  function window(ctx: any): number {
    const { id, contextWindow } = ctx.model;
    if (!windows.has(id)) {
      const { reserveTokens } = SettingsManager.create(ctx.cwd).getCompactionSettings(ctx.model);
      windows.set(id, contextWindow - Math.min(reserveTokens, contextWindow / 2));
    }
    return Math.floor(windows.get(id)!);
  }

  // All messages of a branch, also those that pi itself has compacted away.
  function said(entries: any[]): any[] {
    const gone = new Set(entries.filter((e) => e.type === "context_edit" && !e.replacement).map((e) => e.targetId));
    const kept = entries.filter((e) => e.type !== "compaction" && !gone.has(e.id));
    return kept.flatMap((entry) => sessionEntryToContextMessages(entry)).filter((m: any) => m.role !== "system");
  }

  function whole(messages: any[], ctx: any): any[] {
    if (messages[0]?.role !== "compactionSummary") return messages;
    const entries = ctx.sessionManager.getBranch();
    const last = entries.findLast((e: any) => e.type === "compaction");
    const kept = entries.findIndex((e: any) => e.id === last.firstKeptEntryId);
    return [...said(entries.slice(0, kept)), ...messages.slice(1)];
  }

  pi.on("session_start", (_event, ctx) => void start(ctx.cwd).catch(() => {}));

  pi.on("context", async (event, ctx) => {
    if (!ctx.model) return;
    const messages = whole(event.messages, ctx);
    const asked = { do: "view", ...about(ctx), window: window(ctx), messages };
    const answer = await ask(ctx.cwd, asked, say(ctx));
    segments.set(asked.session, answer?.segments ?? 0);
    const view = answer?.view;
    return view && { messages: view.map((one: any) => (typeof one === "number" ? messages[one] : one)) };
  });

  // pi marks only the end of a request for Anthropic's cache. The digest outlives a pass if its end is marked as well.
  pi.on("before_provider_request", ({ payload }: any, ctx) => {
    const [first, ...others] = payload?.messages ?? [];
    const end = first?.content?.[(segments.get(about(ctx).session) ?? 0) - 1];
    const blocks = [payload.system, payload.tools, first?.content, ...others.map((one: any) => one.content)].flat();
    const marks = blocks.map((block: any) => block?.cache_control).filter(Boolean);
    if (end?.type === "text" && marks.length && marks.length < 4) end.cache_control = marks.at(-1);
  });

  pi.on("session_before_compact", async (event, ctx) => {
    if (!ctx.model) return;
    const { firstKeptEntryId, tokensBefore } = event.preparation;
    const why = { too_long: event.reason === "overflow", automatic: event.reason === "threshold" };
    const how = { focus: event.customInstructions?.slice(0, 2000) ?? "", ...why };
    const messages = said(event.branchEntries);
    const answer = await ask(ctx.cwd, { do: "compact", ...about(ctx), window: window(ctx), messages, ...how }, say(ctx));
    return answer && { compaction: { summary: answer.brief, firstKeptEntryId, tokensBefore } };
  });

  pi.registerTool({
    name: "recall",
    label: "Recall",
    description: RECALL,
    promptSnippet: "Get back what left the conversation",
    promptGuidelines: [NOTE],
    parameters: {
      type: "object",
      properties: { handle: { type: "string" }, query: { type: "string" } },
    } as any,
    async execute(_id, given: any, _signal, _update, ctx) {
      const { handle, query } = given;
      const text = await recall(ctx.cwd, { do: "recall", ...about(ctx), handle, query });
      return { content: [{ type: "text", text }], details: undefined };
    },
  });
}
