"""What outlive answers to an event of another agent. A client waits for it, so each answer loads only what it needs.

call.py        one event, and the stores, memories and log that answer it
start.py       the start of a session: ready tasks, memories, the price of a cold cache
prompt.py      the user's words: logged at once, and the memories that fit
result.py      a tool's result: a large one is kept whole and shown as a preview; the client's own task list
compaction.py  before a compaction, how to summarize; after it, what must not be lost
"""

from outlive.clients.answers.call import ClientAnswer, HookCall

__all__ = ["ClientAnswer", "HookCall", "answer", "takes_long"]


def takes_long(call: HookCall) -> bool:
    """Whether the answer needs stores or the log, so that a server which has them loaded is quicker, now or soon."""
    if call.name == "PostToolUse":
        from outlive.clients.answers.result import is_kept_or_mirrored

        return is_kept_or_mirrored(call)
    return call.name in ("SessionStart", "UserPromptSubmit", "SessionEnd", "PreCompact")


def answer(call: HookCall) -> ClientAnswer:
    """The answer to an event; an empty one to events that need none."""
    match call.name:
        case "SessionStart" if call.event.get("source") == "compact":
            from outlive.clients.answers.compaction import after_compaction

            return after_compaction(call)
        case "SessionStart":
            from outlive.clients.answers.start import at_start

            return at_start(call)
        case "UserPromptSubmit":
            from outlive.clients.answers.prompt import to_prompt

            return to_prompt(call)
        case "PostToolUse":
            from outlive.clients.answers.result import to_result

            return to_result(call)
        case "PreCompact":
            from outlive.clients.answers.compaction import before_compaction

            return before_compaction(call)
        case "SessionEnd":
            with call.followed():
                return ClientAnswer()
        case _:
            return ClientAnswer()
