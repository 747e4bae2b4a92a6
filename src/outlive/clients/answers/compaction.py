"""The client's own compaction: before it, how to summarize; after it, what must not be lost."""

from outlive.clients.answers.call import ClientAnswer, HookCall, recall_hint

MAX_BRIEF_CHARS = 10_000
"""Characters: what Claude Code takes from a hook as it is. More of it costs money and compactions."""
MIN_BRIEF_CHARS = 3_000  # less would not hold request, state and instructions
BRIEF_SHARE = 0.0125
"""Of what the client compacts at a time, because each later request reads the brief again."""
SUMMARY_INSTRUCTIONS = (
    "Keep handles such as @h12 as they are: they name full texts that can be recalled. Quote the user's "
    "standing instructions and the current request word for word; do not paraphrase, add or withdraw any of them. Be "
    "brief about the rest: plan, tasks, files and the lines that matter are given back from a log."
)


def before_compaction() -> ClientAnswer:
    return ClientAnswer(SUMMARY_INSTRUCTIONS)


def after_compaction(call: HookCall) -> ClientAnswer:
    """The user's words, instructions, plan, tasks and the best lines, from our log."""
    from outlive.clients.mirror import see_tasks
    from outlive.context.brief import brief
    from outlive.context.tokens import CHARS_PER_TOKEN

    with call.log() as log:
        recording = log.follow_whole(call.transcript)
        compactions = recording.compactions if recording else 0
        see_tasks(log.session, call.stores.tasks, call.client, call.session)
        history = log.session.engine.history
        share = BRIEF_SHARE * CHARS_PER_TOKEN * history.index.tokens / (compactions + 1)
        limit = round(min(max(share, MIN_BRIEF_CHARS), MAX_BRIEF_CHARS))
        return ClientAnswer(brief(history, limit, recall=recall_hint(call)))
