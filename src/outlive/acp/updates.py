"""Converts events of a session to updates of the protocol, for a run and for the replay of a log."""

import os
import re
from collections.abc import Iterator
from typing import Any

from acp.helpers import (
    image_block,
    plan_entry,
    text_block,
    tool_content,
    tool_diff_content,
    update_plan,
    update_user_message,
)
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ContentToolCallContent,
    Cost,
    FileEditToolCallContent,
    PlanEntryStatus,
    TerminalToolCallContent,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    ToolKind,
    UsageUpdate,
)
from pydantic import BaseModel

from outlive.agent.runtime import Runtime
from outlive.errors import OutliveError
from outlive.events import (
    AssistantSaid,
    Compacted,
    Event,
    Noted,
    PlanChanged,
    ToolFinished,
    ToolStarted,
    UserSaid,
)
from outlive.messages import Image, Text, Thinking, ToolCall, call_label, plain_text, tool_calls
from outlive.origin import own_words
from outlive.printable import clean, clean_output, encodable, one_line
from outlive.state import WorkingState, compression_line
from outlive.stream import (
    ModelRetrying,
    StreamEvent,
    SubagentActed,
    TextDelta,
    ThinkingDelta,
    ToolCallStreaming,
    ToolOutput,
)
from outlive.tools.files.diff import FileChange
from outlive.tools.permissions.asking import PermissionQuestion
from outlive.tools.protocol import Effect

MAX_RESULT_CHARS = 20_000
"""Characters of a result that are shown."""
MAX_DIFF_CHARS = 1_000_000
"""Characters of a file whose diff is shown whole."""
MAX_OUTPUT_CHARS = 4_000
"""Characters of a running command's last output."""
MAX_TITLE_CHARS = 300  # of a question's title; the rest follows in its content

KINDS: dict[str, ToolKind] = {"glob": "search", "grep": "search", "recall": "search", "memory_search": "search"}
EFFECTS: dict[Effect, ToolKind] = {
    "look": "read",
    "edit": "edit",
    "run": "execute",
    "fetch": "fetch",
    "state": "think",
    "tasks": "think",
}
Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent


class Updates:
    """Makes the updates of one session. Feed it events as they happen; in a replay, those of the log."""

    def __init__(self, agent: Runtime) -> None:
        self._agent = agent
        self._calls: dict[str, ToolCall] = {}
        """Calls without a result."""
        self._diffs: dict[str, Content] = {}
        """Diffs of running edits."""
        self._outputs: dict[str, str] = {}
        self._untold: set[str] = set()
        """Calls with new output since `outputs`."""
        self._message = 1
        """Number of the current answer, which its pieces share."""
        self._heard: set[type[Text | Thinking]] = set()
        """The part of this answer that has arrived."""

    def live(self, happened: Event | StreamEvent) -> Iterator[BaseModel]:
        match happened:
            case TextDelta():
                self._heard.add(Text)
                yield self.message(happened.text)
            case ThinkingDelta():
                self._heard.add(Thinking)
                yield self.thought(happened.text)
            case ModelRetrying():
                if Text in self._heard:
                    yield self.message("\n\n[the answer broke off here and is asked for again]\n\n")
                yield self.thought(f"{one_line(happened.reason)}; again in {happened.seconds:.0f} s\n")
                self.next_message()
            case ToolOutput():
                kept = self._outputs.get(happened.call_id, "") + happened.text
                self._outputs[happened.call_id] = kept[-MAX_OUTPUT_CHARS:]
                self._untold.add(happened.call_id)
            case ToolStarted(process=None):
                for call in happened.calls:
                    yield from self._started(call)
            case SubagentActed() | Compacted() | Noted():
                yield self.thought(f"{_note(happened)}\n")
            case PlanChanged():
                yield self.plan()
            case UserSaid() | ToolCallStreaming():
                pass  # the editor shows what was typed into it, and a call when it is whole
            case _:
                yield from self.logged(happened)

    def logged(self, event: Event) -> Iterator[BaseModel]:
        """The updates of a logged event, without reading files."""
        match event:
            case UserSaid():
                for block in event.blocks:
                    if isinstance(block, Image) and block.data:
                        yield update_user_message(image_block(block.data, block.media_type))
                    elif words := own_words(block):
                        yield update_user_message(text_block(words))
            case AssistantSaid():
                yield from self._said(event)
            case ToolFinished() if event.call_id in self._calls:
                yield self._finished(self._calls.pop(event.call_id), event)

    # -- what the agent says

    def message(self, text: str) -> AgentMessageChunk:
        return AgentMessageChunk(
            session_update="agent_message_chunk", content=text_block(encodable(text)), message_id=str(self._message)
        )

    def thought(self, text: str) -> AgentThoughtChunk:
        return AgentThoughtChunk(
            session_update="agent_thought_chunk", content=text_block(encodable(text)), message_id=str(self._message)
        )

    def plan(self) -> BaseModel:
        """The current plan."""
        state = self._agent.session.state
        entries = (plan_entry(step.text, status=_status(state, number)) for number, step in enumerate(state.plan, 1))
        return update_plan(entries)

    def usage(self) -> UsageUpdate:
        gauge, cost = self._agent.gauge, self._agent.spending.cost
        return UsageUpdate(
            session_update="usage_update",
            used=gauge.used,
            size=gauge.window,
            cost=None if cost is None else Cost(amount=cost, currency="USD"),
        )

    def outputs(self) -> Iterator[BaseModel]:
        """New output of running commands."""
        told, self._untold = self._untold & self._calls.keys(), set()
        for call in told:
            yield _progress(call, content=[_text(clean_output(self._outputs[call]))])

    def _said(self, event: AssistantSaid) -> Iterator[BaseModel]:
        for block in event.blocks:
            if isinstance(block, Thinking) and Thinking not in self._heard and block.text:
                yield self.thought(block.text)
        if Text not in self._heard and (text := plain_text(event.blocks)):
            yield self.message(text)
        self.next_message()
        for call in tool_calls(event.blocks):
            self._calls[call.id] = call
            yield ToolCallStart(
                session_update="tool_call",
                tool_call_id=call.id,
                title=one_line(call_label(call)),
                kind=self._kind(call.name),
                status="pending",
                content=self._snippet(call),
                locations=self._locations(call),
                raw_input=call.input,
            )

    def next_message(self) -> None:
        """Begin another message."""
        self._message += 1
        self._heard.clear()

    # -- tool calls

    def _started(self, call_id: str) -> Iterator[BaseModel]:
        if call := self._calls.get(call_id):
            if change := self._change(call):
                self._diffs[call.id] = _diff(change)
            content = {"content": [self._diffs[call.id]]} if change else {}
            yield _progress(call.id, status="in_progress", **content)

    def _finished(self, call: ToolCall, result: ToolFinished) -> BaseModel:
        self._outputs.pop(call.id, None)
        failed, diff = result.is_error or bool(result.exit_code), self._diffs.pop(call.id, None)
        fields: dict[str, Any] = {"status": "failed" if failed else "completed"}
        if not failed and diff:
            fields["content"] = [diff]
        elif failed or self._kind(call.name) != "edit":  # an edit of a log shows its own diff
            pictures = (image_block(image.data, image.media_type) for image in result.images if image.data)
            fields["content"] = [_text(clean_output(result.text)), *map(tool_content, pictures)]
        return _progress(call.id, **fields)

    def asked(self, question: PermissionQuestion) -> ToolCallUpdate:
        """The complete call that the user is asked about: what is granted is what is shown."""
        call = self._calls.get(question.call_id)
        title = f"{question.tool} {question.subject}" if call else f"sub-agent: {question.tool} {question.subject}"
        title = clean(title).replace("\n", " ⏎ ")
        content: list[Content] = []
        if question.change is not None and _fits(question.change):
            content.append(_diff(question.change))
        else:
            content += [_text(clean(text), len(text)) for text in (question.subject, question.preview) if text]
        if question.always:
            content.append(
                tool_content(text_block(f"Always allowing it adds: {clean(' and '.join(question.always))}"))
            )
        return ToolCallUpdate(
            tool_call_id=question.call_id,
            title=title if len(title) <= MAX_TITLE_CHARS else f"{title[:MAX_TITLE_CHARS]} … (all of it below)",
            kind=self._kind(question.tool),
            content=content,
            locations=self._locations(call) if call else None,
            raw_input=call.input if call else None,
        )

    def answered(self, question: PermissionQuestion, *, allowed: bool) -> Iterator[BaseModel]:
        """End a sub-agent's call in the editor, which knows it only from the question."""
        if question.call_id not in self._calls:
            yield _progress(question.call_id, status="completed" if allowed else "failed")

    def _kind(self, name: str) -> ToolKind:
        effect = next((tool.effect for tool in self._agent.parts.toolbox if tool.name == name), None)
        return KINDS.get(name) or (EFFECTS[effect] if effect else "other")

    def _locations(self, call: ToolCall) -> list[ToolCallLocation]:
        try:
            tool, given = self._agent.parts.toolbox.read(call)
            paths = [str(self._agent.parts.fence.inside(path)) for path in tool.paths(given)]
        except OutliveError:
            return []
        line = getattr(given, "offset", None)
        return [ToolCallLocation(path=path, line=line if isinstance(line, int) else None) for path in paths]

    def _snippet(self, call: ToolCall) -> list[Content] | None:
        """The diff of an edit, as far as the call itself shows it."""
        path, old = call.input.get("path"), call.input.get("old_text")
        new = call.input.get("new_text", call.input.get("content"))
        if self._kind(call.name) != "edit" or not isinstance(path, str) or not isinstance(new, str):
            return None
        change = FileChange(os.path.join(self._agent.parts.root, path), old if isinstance(old, str) else None, new)
        return [_diff(change)] if _fits(change) else None

    def _change(self, call: ToolCall) -> FileChange | None:
        """The file before and after an edit that is about to be made, if it is small enough."""
        if self._kind(call.name) != "edit":
            return None
        try:
            tool, given = self._agent.parts.toolbox.read(call)
            paths = [self._agent.parts.fence.editable(path) for path in tool.paths(given)]
            if any(path.exists() and path.stat().st_size > MAX_DIFF_CHARS for path in paths):
                return None
            change = tool.change(given, self._agent.context)
        except (OutliveError, OSError):  # the tool says so itself
            return None
        return change if change and _fits(change) else None


def _progress(call: str, **fields: Any) -> ToolCallProgress:
    return ToolCallProgress(session_update="tool_call_update", tool_call_id=call, **fields)


def _note(happened: SubagentActed | Compacted | Noted) -> str:
    if isinstance(happened, Compacted):
        return compression_line(happened)
    return one_line(f"sub-agent: {happened.text}" if isinstance(happened, SubagentActed) else happened.text)


def _status(state: WorkingState, number: int) -> PlanEntryStatus:
    if state.plan[number - 1].done:
        return "completed"
    return "in_progress" if state.current_step == number else "pending"


def _fits(change: FileChange) -> bool:
    return len(change.before or "") + len(change.after) <= MAX_DIFF_CHARS


def _diff(change: FileChange) -> FileEditToolCallContent:
    return tool_diff_content(change.path, change.after, change.before)


def _text(text: str, longest: int = MAX_RESULT_CHARS) -> ContentToolCallContent:
    """A plain text, although editors read Markdown."""
    more = len(text) - longest
    shown = text if more <= 0 else f"{text[:longest]}\n… {more:,} more characters"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return tool_content(text_block(f"{fence}\n{encodable(shown)}\n{fence}"))
