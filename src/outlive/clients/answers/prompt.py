"""A prompt of the user: the words go to the log at once, and the memories that fit come back."""

from outlive.clients.answers.call import ClientAnswer, HookCall

MAX_TRANSCRIPT_BYTES = 256 * 1024 * 1024
"""Bytes of a transcript that are searched for memories that were shown already."""
HOOK_CONTEXT, HOOK_CONTEXT_END = "<hook_context>", "</hook_context>"
_COMPACTION_MARKS = (b'"compact_boundary"', b'"type":"compacted"')
"""What the transcripts of Claude Code and Codex have where the client compacted."""


def to_prompt(call: HookCall) -> ClientAnswer:
    prompt = call.event.get("prompt")
    parts = prompt if isinstance(prompt, list) else [{"text": prompt}]
    words = "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
    words = _without_hook_context(words) if call.client == "gemini" else words
    if call.event.get("source", "user") != "user" or not words.strip() or words.startswith("/"):
        return ClientAnswer()
    from outlive.clients.words import log_words

    log_words(call, words)
    return ClientAnswer(_memories_for(call, words))


def _without_hook_context(words: str) -> str:
    """The words alone: Gemini CLI puts what a hook said at the start before the user's first ones."""
    while words.lstrip().startswith(HOOK_CONTEXT):
        _, end, rest = words.partition(HOOK_CONTEXT_END)
        if not end:
            break
        words = rest.lstrip()
    return words


def _memories_for(call: HookCall, words: str) -> str:
    """The memories that fit, without those that this session was shown already."""
    with call.memories() as memories:
        if memories is None:
            return ""
        from outlive.clients.fitting_memories import fitting_memories

        return fitting_memories(memories, words, lambda: _in_view(call))


def _in_view(call: HookCall) -> str:
    """The part of the transcript that the model still sees: everything since the client last compacted."""
    from outlive.regular import read_regular

    try:
        text = read_regular(str(call.event.get("transcript_path")), MAX_TRANSCRIPT_BYTES, follow=True)
    except OSError:
        return ""
    since = max(text.rfind(mark) for mark in _COMPACTION_MARKS)
    return text[since + 1 :].decode(errors="replace").replace("\\n", "\n")
