"""A session: what is said and done goes to its log and its engine; requests come out of the engine.

The log is the truth: `Session.resume` rebuilds everything here from it.
"""

import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, Unpack, cast

from msgspec.structs import replace

from outlive.agent.log.session_log import SessionLog, SessionOptions
from outlive.agent.log.world import SEEN, World, compare
from outlive.context.errors import ContextError, FloorError
from outlive.context.ledger import facts
from outlive.context.state_block import plan_text, shortened
from outlive.context.summary import Checked, ask, checked, largest
from outlive.context.tokens import estimate
from outlive.events import (
    VERSION,
    AssistantSaid,
    Checkpointed,
    Compacted,
    Denial,
    DirectiveDropped,
    DirectiveGiven,
    Event,
    Noted,
    ProviderSummary,
    Renewed,
    SessionStarted,
    SystemChanged,
    ToolFinished,
    Undone,
    UsageReported,
    UserSaid,
)
from outlive.instructions import standing
from outlive.messages import Block, Image, Text, call_file
from outlive.models.protocol import Summary
from outlive.origin import by_user, own_words, user_words
from outlive.request import Request
from outlive.secrets import mask_value
from outlive.state import made_way
from outlive.stores.logs.names import new_session_id
from outlive.stores.logs.protocol import LogStore
from outlive.stores.logs.reading import full_log
from outlive.tools.files.diff import changed_lines

DAMAGE_NOTE = "damage"
RECONCILED_NOTE = "reconciled"
SUMMARY_LABEL = "summary"
MAX_PROMPT_CHANGE_CHARS = 3_000
"""Characters of a system prompt change that the state block shows."""
INTERRUPTED = (
    "[interrupted: the process ended while this ran.{} It may have done all, part or none of its work: "
    "look before doing it again]"
)
NOT_RUN = "[not run: the process ended before this started; call it again if it is still needed]"


class NothingToUndo(ContextError):
    """There is no pass or event to undo."""


class Session(SessionLog):
    """One conversation and all of its durable state. Use `start` or `resume`; close it when done."""

    @classmethod
    def start(
        cls,
        store: LogStore,
        *,
        id: str = "",
        system: str = "",
        tools: tuple[dict[str, Any], ...] = (),
        model: str = "",
        folder: str = "",
        **options: Unpack[SessionOptions],
    ) -> Self:
        """Start a session. With `folder`, the files in it are watched."""
        clock = options.get("clock", time.time)
        writer = store.create(id or new_session_id(clock()))
        if folder:
            options.setdefault("world", World(Path(folder)))
        session = cls(writer, **options)
        about = {"system": system, "tools": tools, "model": model, "folder": folder}
        try:
            session.log(SessionStarted, session=writer.session, version=VERSION, **about)
            session._see((), head=True)
        except BaseException:
            writer.close()
            raise
        return session

    @classmethod
    def resume(
        cls,
        store: LogStore,
        id: str,
        *,
        take_over: bool = False,
        window_of: Callable[[Sequence[Event]], int] | None = None,
        **options: Unpack[SessionOptions],
    ) -> Self:
        """Resume a session: state, view and handles are rebuilt from its log alone.

        `window_of` finds the window from the logged events. With `take_over`, a process that has the session open is
        fenced out.
        """
        writer = store.writer(id, take_over=take_over)
        try:
            log = full_log(store, id)
            if window_of is not None:
                options["window"] = window_of(log.events)
            folder = next((e.folder for e in log.events if isinstance(e, SessionStarted)), "")
            if folder and Path(folder).is_dir():
                options.setdefault("world", World(Path(folder)))
            session = cls(writer, history=log.events, **options)
            known = {event.text for event in log.events if isinstance(event, Noted) and event.kind == DAMAGE_NOTE}
            session.note(
                *(text for text in (shortened(str(damage)) for damage in log.damage) if text not in known),
                kind=DAMAGE_NOTE,
            )
        except BaseException:
            writer.close()
            raise
        session._unreconciled = session._world is not None
        return session

    # -- what is said and done

    def user_said(self, words: str | tuple[Block, ...], *, queued: tuple[int, ...] = ()) -> UserSaid:
        """Record a user turn; standing instructions among the user's own words become directives, verbatim.

        A text without an origin is the user's. `queued` lists the events of queued words that are said now.
        """
        blocks = by_user((Text(words),) if isinstance(words, str) else words)
        said = self._made(UserSaid, blocks=blocks, queued=queued)
        events: list[Event] = [said]
        for text in dict.fromkeys(text for block in blocks for text in standing(own_words(block))):
            events.append(self._made(DirectiveGiven, len(events), text=text, source=said.id))
        before = self.state
        said = cast(UserSaid, self._commit(events)[0])
        for gone in made_way(before, self.state):
            self.log(DirectiveDropped, text=gone.text, reason="more directives than there is room for")
        return said

    def assistant_said(
        self,
        blocks: tuple[Block, ...],
        *,
        stop_reason: str = "",
        model: str = "",
        usage: Mapping[str, Any] | None = None,
    ) -> AssistantSaid:
        """Record the model's answer and the `usage` that its provider reported, in one write."""
        said = self._made(AssistantSaid, blocks=blocks, stop_reason=stop_reason, model=model)
        events: list[Event] = [said]
        if usage is not None:
            events.append(self._made(UsageReported, 1, of=said.id, **usage))
        return cast(AssistantSaid, self._commit(events)[0])

    def tool_finished(
        self,
        call_id: str,
        text: str,
        *,
        is_error: bool = False,
        exit_code: int | None = None,
        images: tuple[Image, ...] = (),
        seconds: float = 0.0,
        denied: Denial | None = None,
    ) -> ToolFinished:
        """Record the result of a tool call, and the state of the files it touched."""
        call = next((call for call in self.engine.history.waiting if call.id == call_id), None)
        event = self.log(
            ToolFinished,
            call_id=call_id,
            text=text,
            is_error=is_error,
            exit_code=exit_code,
            images=images,
            seconds=seconds,
            denied=denied,
        )
        if call is not None and self._world is not None:
            written = [name for name, at in self.engine.history.ledger.written.items() if at == event.id]
            names = dict.fromkeys([*written, *filter(None, [call_file(call)])])
            self._see(names, head="git" in str(call.input))
        return event

    # -- requests and passes

    def next_request(self, now: float | None = None) -> Request:
        """The request that continues the session. A pass that it needed is on disk before the request is returned."""
        self.reconcile()
        passes = self._relieved(now)
        if passes and self.reconcile(after_pass=True):
            passes += self._relieved(now)
        if shown := self.engine.tell_state():
            self._write_made([shown])
        request = self.engine.live_request()
        return replace(request, passes=tuple(passes), state_shown=shown, output=self.output)

    def due(self, now: float | None = None) -> str:
        """Why the next request would make a pass, else empty."""
        return self.engine.due(now)

    def summary_request(self, focus: str = "") -> Request:
        """The current request, which the provider has cached, with a final instruction to summarise."""
        if self.due() == "limit":
            self._relieved(None)
        return self.question(ask(self.masked(focus), self.engine.projection.summary))

    def question(self, text: str) -> Request:
        """The current request, which the provider has cached, with a final text that is not logged."""
        request = self.engine.live_request()
        last = request.messages[-1]
        return replace(request, messages=(*request.messages[:-1], replace(last, blocks=(*last.blocks, Text(text)))))

    def compact(self, focus: str = "", summary: str = "", problem: str = "") -> Compacted | None:
        """Fold all but the tail now; returns None if that saves nothing.

        `summary` is a model's answer to `summary_request`. It is checked against the log, and lines that the log does
        not confirm are dropped. `problem` says why there is none though one was requested; then the digest is made by
        rules.
        """
        focus, summary = self.masked(focus), self.masked(summary)
        if summary or problem:
            found = self._checked(summary)
            summary = found.text
            if reason := problem or found.problem:
                self.no_summary("model", reason)
            elif found.dropped:
                self.log(Checkpointed, label=SUMMARY_LABEL, data={"left_out": list(found.dropped)})
        return self._passed(lambda: self.engine.compact(focus, summary))

    def summarized(self, summary: Summary, fold_to: int) -> Compacted | str:
        """Replace events up to `fold_to` by the provider's summary, or note why not.

        A readable summary is checked like a model's. It cannot be edited, so the digest lists the lines that do not
        count.
        """
        if summary.block is None:
            return "it came back empty"
        if fold_to <= self.engine.projection.fold_to:
            return "another pass came first"
        left_out: tuple[str, ...] = ()
        if summary.text:
            found = self._checked(summary.text)
            if found.problem:
                return found.problem
            left_out = tuple(map(self.masked, found.dropped))
        tokens = summary.usage.output or round(estimate(summary.text))
        provided = ProviderSummary(summary.block, tokens)
        passed = self._passed(lambda: self.engine.summarized(provided, fold_to, left_out))
        return passed or "nothing was gained"

    def no_summary(self, author: str, reason: str) -> None:
        """Note that the digest is made by rules although the `author` was asked for a summary."""
        self.note(f"no summary by the {author} ({reason}); the rules make the digest", kind=SUMMARY_LABEL)

    def _checked(self, summary: str) -> Checked:
        words = [user_words(unit.blocks) for unit in self.engine.history.units if unit.kind == "user"]
        return checked(summary, words, limit=largest(self.engine.window), pages=len(self.engine.history.pages))

    def too_long(self, actual: int = 0, limit: int = 0) -> Compacted:
        """The provider refused the last request as too long: compact to the floor, or raise FloorError."""
        passed = self._passed(lambda: self.engine.too_long(actual, limit))
        assert passed is not None  # noqa: S101 - the engine makes a pass or raises
        return passed

    @property
    def can_undo_pass(self) -> bool:
        """Whether a pass is in force."""
        return self.engine.projection.event in self._passes

    def undo_pass(self) -> Undone:
        """Undo the newest pass: the view is what it was before it."""
        target = self.engine.projection.event
        if not self.can_undo_pass:
            raise NothingToUndo(f"session {self.id!r}: no pass is in force that could be taken back")
        return self.log(Undone, target=target, what="pass")

    def undo_to(self, event: int) -> Undone:
        """Undo everything after an event. The log keeps it, and its handles still work."""
        if not 1 <= event < self.last_event:
            raise NothingToUndo(f"session {self.id!r}: event {event} is not between 1 and {self.last_event - 1}")
        return self.log(Undone, target=event, what="after")

    def renew(self, words: str = "") -> Renewed:
        """Start a new sprint: the state carries over with a handoff note that begins with `words`; the history starts
        fresh."""
        state = self.state
        parts = [
            words.strip(),
            f"Goal of the last sprint: {state.goal}" if state.goal else "",
            plan_text(state),
            f"Progress: {state.progress}" if state.progress else "",
            f"Blocked on: {state.blocked_on}" if state.blocked_on else "",
            facts(self.engine.history.ledger),
        ]
        return self.log(Renewed, handoff="\n".join(filter(None, parts)) or "(nothing was left open)")

    def reconcile(self, *, after_pass: bool = False) -> bool:
        """Compare files and processes with what was last seen, after a resume or a pass; return whether anything
        changed."""
        if self._world is None or not (self._unreconciled or after_pass):
            return False
        background = self.engine.history.ledger.background
        found = compare(self._world, self._seen, background, self.started.runs, restarted=self._unreconciled)
        self._unreconciled = False
        if found.data:
            self.log(Checkpointed, label=SEEN, data=found.data)
        self.note(*found.notes, kind=RECONCILED_NOTE)
        return bool(found.notes)

    def settle(self, became: Mapping[str, str] | None = None, *, but: Container[str] = ()) -> int:
        """Answer calls that a dead process left open; return how many there were.

        `became` maps a call to what happened to its command; calls in `but` are answered later.
        """
        open_calls = [call for call in self.engine.history.waiting if call.id not in but]
        for call in open_calls:
            more = f" {became[call.id]}." if became and call.id in became else ""
            text = INTERRUPTED.format(more) if call.id in self.started.unanswered else NOT_RUN
            self.tool_finished(call.id, text, is_error=True)
        return len(open_calls)

    def change_system(self, system: str, tools: tuple[dict[str, Any], ...], *, may_wait: bool = False) -> bool:
        """Use another system prompt and other tools from now on; return whether anything differs.

        With `may_wait`, a small change of the prompt is shown in the state block and applied at the next pass, and
        tools that come or go are told where they do, so that the provider's cache and thinking bound to the prompt
        stay valid.
        """
        system = self.masked(system)
        tools = mask_value(tools, by=self.masked)
        history = self.engine.history
        if (system, tools) == (history.next_system, history.next_tools):
            return False
        warm = history.asked_at is not None and not self.engine.is_cold(self._clock())
        difference = "\n".join(changed_lines(history.system, system, context=0)) if may_wait and warm else ""
        known = {tool["name"]: tool for tool in (*history.tools, *history.next_tools)}
        wait = (
            may_wait
            and warm
            and len(difference) <= MAX_PROMPT_CHANGE_CHARS
            and all(known.get(tool["name"], tool) == tool for tool in tools)
        )
        keeps = wait and tools != history.next_tools
        self.log(SystemChanged, system=system, tools=tools, told=difference if wait else "", keeps_tools=keeps)
        return True

    # -- inside

    def _relieved(self, now: float | None) -> list[Compacted]:
        """Make the passes that are due and write them."""
        began = time.perf_counter()
        try:
            made = self.engine.relieve(now)
        except FloorError as error:
            self._write_made(_timed(error.new_events, began))  # they are in force, though no request came of them
            raise
        made = _timed(made, began)
        self._write_made(made)
        return made

    def _passed(self, make: Callable[[], Compacted | None]) -> Compacted | None:
        began = time.perf_counter()
        made = make()
        if made is not None:
            (made,) = timed = _timed([made], began)
            self._write_made(timed)
            self.reconcile(after_pass=True)
        return made

    def _see(self, names: Iterable[str], *, head: bool) -> None:
        """Record files that changed and, with `head`, the commit that is checked out (which takes a process)."""
        if self._world is None:
            return
        known = self._seen.files
        files = {name: found for name in names if (found := self._world.hash(name)) and found != known.get(name)}
        data: dict[str, Any] = {"files": files} if files else {}
        commit = self._world.head() if head else self._seen.head
        if commit != self._seen.head:
            data["head"] = commit
        if data:
            self.log(Checkpointed, label=SEEN, data=data)


def _timed(passes: Iterable[Compacted], began: float) -> list[Compacted]:
    """The passes with their duration on the receipts; the engine itself reads no clock."""
    seconds = round(time.perf_counter() - began, 4)
    return [replace(event, receipt=replace(event.receipt, seconds=seconds)) for event in passes]
