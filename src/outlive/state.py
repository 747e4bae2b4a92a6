"""Working state: a session's own memory of what it is doing. Rebuilt from the log alone, never summarised.

It is a value: `state.apply(event)` gives the next one. What a caller asks for is checked by `check` before it is
logged; what is in the log already is taken as far as it makes sense, so a bad line cannot stop a session.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from outlive.errors import OutliveError
from outlive.events import (
    AssistantSaid,
    Compacted,
    DirectiveDropped,
    DirectiveGiven,
    Event,
    GoalSet,
    ModeChanged,
    OpenTask,
    PlanChanged,
    Renewed,
    StateChanged,
    Step,
    TasksSeen,
    Undone,
)
from outlive.messages import call_label, tool_calls

UNPINNED = 8
RECENT_ACTIONS = 6
ACTION_LENGTH = 36


class StateError(OutliveError):
    """A change of the working state that makes no sense; nothing was changed."""


class Directive(Struct, frozen=True):
    """A standing instruction in the user's own words."""

    text: str
    source: int = 0
    pinned: bool = False


class WorkingState(Struct, frozen=True):
    """Everything that has to be known whatever happens to the conversation."""

    goal: str = ""
    criteria: tuple[str, ...] = ()
    plan: tuple[Step, ...] = ()
    current_step: int = 0
    """1 is the first; 0 means none."""
    progress: str = ""
    scratchpad: str = ""
    blocked_on: str = ""
    directives: tuple[Directive, ...] = ()
    dropped_directives: tuple[Directive, ...] = ()
    preserved_refs: tuple[str, ...] = ()
    recent_actions: tuple[str, ...] = ()
    compression_log: tuple[str, ...] = ()
    mode: str = ""
    tasks: tuple[OpenTask, ...] = ()

    def check(self, event: Event) -> None:
        """Refuse a change that makes no sense, before it is logged."""
        if isinstance(event, GoalSet) and self.goal and event.goal != self.goal:
            raise StateError("the goal of a run is set once; renew the session for a new one")
        if isinstance(event, PlanChanged):
            self._check_plan(event)

    def _check_plan(self, event: PlanChanged) -> None:
        count = len(self.plan if event.steps is None else event.steps)
        if event.current_step is not None and not 0 <= event.current_step <= count:
            raise StateError(f"current_step {event.current_step} is out of range: the plan has {count} steps")
        for number in event.done:
            if not 1 <= number <= count:
                raise StateError(f"step {number} cannot be done: the plan has {count} steps")
        if event.steps is not None and any(not step.text.strip() for step in event.steps):
            raise StateError("a step of the plan is blank")

    def apply(self, event: Event) -> "WorkingState":
        """The state after an event."""
        match event:
            case GoalSet() if not self.goal:
                return replace(self, goal=event.goal, criteria=event.criteria or self.criteria)
            case PlanChanged():
                return self._replan(event)
            case StateChanged():
                return self._change(event)
            case DirectiveGiven():
                return self._direct(event)
            case DirectiveDropped():
                gone = event.text.strip()
                return replace(self, directives=tuple(d for d in self.directives if d.text != gone))
            case TasksSeen():
                return replace(self, tasks=event.tasks)
            case ModeChanged():
                return replace(self, mode=event.mode)
            case AssistantSaid():
                return self._act(event)
            case Compacted() | Undone():
                return replace(self, compression_log=(*self.compression_log, compression_line(event)))
            case Renewed():
                return replace(self, goal="", criteria=(), scratchpad="", recent_actions=())
            case _:
                return self

    def _replan(self, event: PlanChanged) -> "WorkingState":
        plan = self.plan
        if event.steps is not None:
            done = {_same(step.text) for step in plan if step.done}
            plan = tuple(Step(s.text, s.done or _same(s.text) in done) for s in event.steps if s.text.strip())
        finished = set(event.done)
        plan = tuple(Step(s.text, s.done or number in finished) for number, s in enumerate(plan, 1))
        current = self.current_step if event.current_step is None else event.current_step
        return replace(
            self,
            plan=plan,
            current_step=current if 0 <= current <= len(plan) else 0,
            progress=self.progress if event.progress is None else event.progress,
            blocked_on=self.blocked_on if event.blocked_on is None else event.blocked_on,
        )

    def _change(self, event: StateChanged) -> "WorkingState":
        return replace(
            self,
            scratchpad=self.scratchpad if event.scratchpad is None else event.scratchpad,
            preserved_refs=self.preserved_refs if event.preserved_refs is None else event.preserved_refs,
            criteria=self.criteria if event.criteria is None else event.criteria,
        )

    def _direct(self, event: DirectiveGiven) -> "WorkingState":
        text = event.text.strip()
        if not text:
            return self
        pinned = event.pinned or any(d.pinned for d in self.directives if d.text == text)
        kept = [d for d in self.directives if d.text != text] + [Directive(text, event.source, pinned)]
        loose = [d for d in kept if not d.pinned]
        gone = loose[: max(0, len(loose) - UNPINNED)]
        return replace(
            self,
            directives=tuple(d for d in kept if d not in gone),
            dropped_directives=(*self.dropped_directives, *gone),
        )

    def _act(self, event: AssistantSaid) -> "WorkingState":
        labels = [call_label(call, ACTION_LENGTH) for call in tool_calls(event.blocks)]
        if not labels:
            return self
        line = labels[0] + (f" (+{len(labels) - 1} more)" if len(labels) > 1 else "")
        return replace(self, recent_actions=(*self.recent_actions, line)[-RECENT_ACTIONS:])


def compression_line(event: Compacted | Undone) -> str:
    """One pass in one line."""
    if isinstance(event, Undone):
        return f"event {event.target} taken back" if event.what == "pass" else f"back to event {event.target}"
    receipt = event.receipt
    sizes = f"{receipt.before / 1000:.0f}k -> {receipt.after / 1000:.0f}k tokens"
    return f"{'+'.join(receipt.rungs)} ({receipt.reason}) {sizes}"


def rebuild(events: Iterable[Event]) -> WorkingState:
    """The state that a log leads to."""
    state = WorkingState()
    for event in events:
        state = state.apply(event)
    return state


def _same(text: str) -> str:
    """Two steps with the same words are the same step."""
    return " ".join(text.casefold().split())
