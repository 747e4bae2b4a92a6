"""Turns log and stream events into finished items, and tracks work in progress. Independent of the terminal."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace
from rich.text import Text

from outlive.agent.attachments.attaching import NOT_PUT_IN
from outlive.agent.commands.started import SUBAGENT_LABEL
from outlive.agent.session import DAMAGE_NOTE
from outlive.cli.chat.render.cards import Card
from outlive.cli.chat.render.flow import Block, Flow
from outlive.cli.chat.render.item import Hanging, Item
from outlive.cli.chat.render.markdown import Prose
from outlive.cli.chat.render.suspects import Suspects
from outlive.cli.chat.words import counted, cut, duration, tokens
from outlive.events import (
    AssistantSaid,
    Checkpointed,
    Compacted,
    Event,
    ModeChanged,
    Noted,
    PlanChanged,
    Receipt,
    ToolFinished,
    ToolStarted,
    UserSaid,
)
from outlive.messages import Text as Words
from outlive.messages import ToolCall, plain_text, tool_calls
from outlive.origin import origin_of, user_words
from outlive.printable import clean, one_line
from outlive.state import WorkingState
from outlive.stream import (
    ModelRetrying,
    StreamEvent,
    SubagentActed,
    TextDelta,
    ThinkingDelta,
    ToolCallStreaming,
    ToolOutput,
)
from outlive.tools.permissions.asking import PermissionQuestion

MAX_KEPT_RESULTS = 50  # newest results, to be shown in full with Ctrl+O
MAX_KEPT_OUTPUT_CHARS = 8000  # the end of thinking and of running output: only last lines are shown
MAX_LIVE_BLOCK_LINES = 12
"""Lines of code or of a list that stay live until complete; longer ones are printed as they come."""
MAX_USER_LINES = 12  # of a message that is shown again; the user knows the rest
MAX_INJECTED_COLUMNS = 200
"""Columns of a text in the user's turn that is not the user's."""
_ATTACHED = re.compile(r"<(?:attached-[\w-]+|command(?:-\d+)?)>([^\n<]*)")
_USER_SHELL = re.compile(r"<user-shell[\w-]*>\n\$ ([^\n]*)")
_TAG = re.compile(r"^<[\w-]+>|</[\w-]+>$")


@dataclass(slots=True)
class Running:
    call: ToolCall
    since: float
    output: str = ""


@dataclass(slots=True)
class Transcript:
    """What a face has to show of a session."""

    state: Callable[[], WorkingState] = WorkingState
    clock: Callable[[], float] = time.monotonic
    flow: Flow = field(default_factory=Flow)
    running: dict[str, Running] = field(default_factory=dict)
    results: deque[tuple[ToolCall, ToolFinished]] = field(default_factory=lambda: deque(maxlen=MAX_KEPT_RESULTS))
    batch: int = 1
    """Number of calls in the last answer that had any."""
    thinking: str = ""
    arriving: str = ""
    """The tool whose call is being written."""
    waiting: str = ""
    """Why the model is asked again, until it answers."""
    _asked: dict[tuple[str, str], tuple[float, bool]] = field(default_factory=dict)
    """(tool, subject) to how long the user was asked, and whether a preview was shown."""
    _calls: dict[str, ToolCall] = field(default_factory=dict)
    _children: dict[str, str] = field(default_factory=dict)
    """Session of a sub-agent to the id of its call."""
    _suspects: Suspects = field(default_factory=Suspects)
    _plan_changed: bool = False
    _heard: bool = False
    _printed: bool = False
    """Part of the arriving answer was printed into the scrollback."""

    def take(self, happened: Event | StreamEvent) -> list[Item]:
        """Take in an event; returns the items it finished."""
        match happened:
            case (
                TextDelta() | ThinkingDelta() | ToolCallStreaming() | ModelRetrying() | ToolOutput() | SubagentActed()
            ):
                return self._live(happened)
            case UserSaid():
                return list(_turn(happened))
            case AssistantSaid():
                return self._said(happened)
            case ToolStarted():
                for call in happened.calls:
                    if call in self._calls:
                        self.running[call] = Running(self._calls[call], self.clock())
                return []
            case ToolFinished():
                return self._finished(happened)
            case PlanChanged():
                self._plan_changed = True
                return []
            case Checkpointed() if happened.label == SUBAGENT_LABEL:
                self._child(happened.data)
                return []
            case _:
                return list(_notes(happened))

    def begin(self, call: ToolCall) -> None:
        """Show a command that the user typed as running."""
        self._calls[call.id] = call
        self.running[call.id] = Running(call, self.clock())

    def rest(self) -> list[Item]:
        """End the run; returns the remaining items."""
        items = self._blocks(self.flow.finish())
        self.running.clear()
        self._children.clear()
        self._calls.clear()
        self._quiet()
        self._heard = self._printed = False
        return items

    def _live(self, happened: StreamEvent) -> list[Item]:
        match happened:
            case TextDelta():
                self._quiet()
                self._heard = True
                return self._blocks([*self.flow.feed(happened.text), *self.flow.spill(MAX_LIVE_BLOCK_LINES)])
            case ThinkingDelta():
                self.thinking = (self.thinking + happened.text)[-MAX_KEPT_OUTPUT_CHARS:]
                self.waiting = ""
            case ToolCallStreaming():
                self._quiet()
                self.arriving = one_line(happened.name)
            case ModelRetrying():
                return self._again(happened)
            case ToolOutput():
                self._output(happened.call_id, happened.text)
            case SubagentActed():
                self._output(self._children.get(happened.session, ""), f"{happened.text}\n")
        return []

    def _output(self, call: str, text: str) -> None:
        if found := self.running.get(call):
            found.output = (found.output + text)[-MAX_KEPT_OUTPUT_CHARS:]

    def _child(self, link: dict[str, object]) -> None:
        """Link a new sub-agent to its call, so that its activity is shown there."""
        for id, running in self.running.items():
            if running.call.input.get("description") == link.get("description") and id not in self._children.values():
                self._children[str(link.get("session"))] = id
                return

    def _again(self, wait: ModelRetrying) -> list[Item]:
        broken, self._printed = self._printed, False
        self.flow = Flow()
        self._quiet()
        self._heard = False
        self.waiting = f"{one_line(wait.reason)} · again in {duration(wait.seconds)} (attempt {wait.attempt})"
        return [note("↻", Text("the answer broke off here and is asked for again", "quiet"))] if broken else []

    def _said(self, said: AssistantSaid) -> list[Item]:
        fed = [] if self._heard else self.flow.feed(plain_text(said.blocks))
        items = self._blocks([*fed, *self.flow.finish()])
        self._heard = self._printed = False
        self._quiet()
        self._calls = {call.id: call for call in tool_calls(said.blocks)}
        self.batch = len(self._calls) or self.batch
        return items

    def _finished(self, result: ToolFinished) -> list[Item]:
        self.running.pop(result.call_id, None)
        call = self._calls.pop(result.call_id, None)
        if call is None:
            return []
        self.results.append((call, result))
        state, changed, self._plan_changed = self.state(), self._plan_changed, False
        asked = [self._asked.pop((call.name, str(value)), (0.0, False)) for value in call.input.values()]
        card = Card(
            call,
            replace(result, seconds=max(0.0, result.seconds - sum(seconds for seconds, _ in asked))),
            plan=state.plan if changed else (),
            current_step=state.current_step,
            with_diff=not any(shown for _, shown in asked),
            suspects=self._suspects.after(call, result),
        )
        return [Item("card", card)]

    def answered(self, question: PermissionQuestion, seconds: float) -> None:
        """Record a yes of the user: its preview is not shown again, and the waiting time is not the tool's."""
        self._asked[question.tool, question.subject] = (seconds, bool(question.preview))

    @property
    def pending(self) -> list[ToolCall]:
        return [call for call in self._calls.values() if call.id not in self.running]

    def _blocks(self, blocks: Iterable[Block]) -> list[Item]:
        blocks = list(blocks)
        self._printed = self._printed or bool(blocks)
        return [Item("answer", Prose(block.text), block.tight) for block in blocks]

    def _quiet(self) -> None:
        self.thinking = self.arriving = self.waiting = ""


def _turn(event: UserSaid) -> Iterator[Item]:
    """The first lines of the user's words, and dimly what others put beside them."""
    others = [(origin_of(b), b.text) for b in event.blocks if isinstance(b, Words) and origin_of(b) != "user"]
    if len(others) < len(event.blocks):
        lines = clean(user_words(event.blocks)).strip().split("\n")
        shown = Text("\n".join(lines[:MAX_USER_LINES]), "strong")
        if len(lines) > MAX_USER_LINES:
            shown.append(f"\n… {counted(len(lines) - MAX_USER_LINES, 'more line')}", "quiet")
        yield Item("user", Hanging("> ", shown))
    for origin, text in others:
        yield note("·", Text(cut(_injected(origin, text), MAX_INJECTED_COLUMNS), "quiet"))


def _injected(origin: str, text: str) -> str:
    """One line about a text in the user's turn that is not the user's: an attachment by its name."""
    if attached := _ATTACHED.match(text):
        name, lines = one_line(attached[1]), text.count("\n")
        return f"put in: {name}" + (f" ({counted(lines, 'line')})" if lines and ", line" not in name else "")
    if command := _USER_SHELL.match(text):
        return f"told the agent: $ {one_line(command[1])}"
    words = one_line(_TAG.sub("", text.strip()))
    return words if words.startswith(NOT_PUT_IN) else f"{origin}: {words}"


def note(mark: str, words: Text, style: str = "quiet") -> Item:
    return Item("note", Hanging(f"{mark} ", words, style))


def _notes(event: Event) -> Iterator[Item]:
    match event:
        case Compacted():
            yield note("⤵", _compaction(event.receipt), "accent")
        case Noted():
            style = "warn" if event.kind == DAMAGE_NOTE else "quiet"
            yield note("·", Text(one_line(event.text), style), style)
        case ModeChanged():
            yield note("·", Text(f"mode {one_line(event.mode)}", "quiet"))


def _compaction(receipt: Receipt) -> Text:
    """Describe what a pass did and how to undo it."""
    done = [
        f"{counted(receipt.units_folded, 'unit')} folded" if receipt.units_folded else "",
        f"{counted(receipt.units_shrunk, 'unit')} shrunk" if receipt.units_shrunk else "",
        "everything recallable",
    ]
    line = Text(f"compacted {tokens(receipt.before)} → {tokens(receipt.after)}")
    line.append(f" ({one_line(receipt.reason)}: {', '.join(filter(None, done))}) · /undo takes it back", "quiet")
    return line


def last_words(text: str, width: int) -> str:
    line = one_line(text[-4 * width :])
    return line if len(line) <= width else "…" + cut(line[-width + 1 :], width - 1)
