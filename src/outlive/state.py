"""Working state: a session's own memory of what it is doing. Rebuilt from the log alone, never summarised.

It is a value: `state.apply(event)` gives the next one. What a caller asks for is checked by `check` before it is
logged; what is in the log already is taken as far as it makes sense, so a bad line cannot stop a session.
"""

from collections.abc import Iterable, Sequence
from typing import Any

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
    PlanStep,
    Renewed,
    StateChanged,
    TasksSeen,
    Undone,
)
from outlive.messages import call_label, tool_calls

UNPINNED = 8
FINISHED = 10
"""Finished steps that left the plan and are still shown; of older ones only the number."""
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
    plan: tuple[PlanStep, ...] = ()
    current_step: int = 0
    """1 is the first; 0 means none."""
    finished: tuple[str, ...] = ()
    """Steps that were done when another plan left them out, newest last."""
    finished_before: int = 0
    """How many more there were."""
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
    tasks_done: tuple[int, ...] = ()

    def check(self, event: Event) -> None:
        """Refuse a change that makes no sense, before it is logged."""
        if isinstance(event, GoalSet) and self.goal and event.goal != self.goal:
            raise StateError("the goal of a run is set once; renew the session for a new one")
        if isinstance(event, PlanChanged):
            self._check_plan(event)

    def _check_plan(self, event: PlanChanged) -> None:
        if event.steps is not None and any(not step.text.strip() for step in event.steps):
            raise StateError("a step of the plan is blank")
        count = len(self.plan if event.steps is None else event.steps)
        known = f"the plan has steps 1 to {count}" if count else "the plan has no steps"
        if event.current_step is not None and not 0 <= event.current_step <= count:
            raise StateError(f"current_step {event.current_step} is out of range: {known}, and 0 means none")
        for number in (*event.done, *event.not_done):
            if not 1 <= number <= count:
                raise StateError(f"step {number} is out of range: {known}")
        if both := sorted(set(event.done) & set(event.not_done)):
            raise StateError(f"step {both[0]} cannot be done and not done")

    def step_number(self, words: str, steps: Sequence[str] | None = None) -> int:
        """The step that is meant: its words, or a beginning of them that no other step has.

        `steps` are those of a plan that is only being made.
        """
        texts = [step.text for step in self.plan] if steps is None else list(steps)
        wanted = _same(words)
        found = [n for n, text in enumerate(texts, 1) if _same(text) == wanted]
        found = found or [n for n, text in enumerate(texts, 1) if wanted and _same(text).startswith(wanted)]
        if len(found) == 1:
            return found[0]
        known = f"give its number, 1 to {len(texts)}" if texts else "the plan has no steps"
        what = f"{len(found)} steps begin" if found else "no step of the plan begins"
        raise StateError(f"{what} with {words[:80]!r}: {known}")

    def apply(self, event: Event) -> "WorkingState":
        """The state after an event."""
        match event:
            case GoalSet() if self.goal in ("", event.goal):
                return replace(self, goal=event.goal, criteria=event.criteria or self.criteria)
            case PlanChanged():
                return self._replan(event)
            case StateChanged():
                return replace(self, **_given(event, "scratchpad", "preserved_refs", "criteria"))
            case DirectiveGiven():
                return self._direct(event)
            case DirectiveDropped():
                gone = event.text.strip()
                return replace(self, directives=tuple(d for d in self.directives if d.text != gone))
            case TasksSeen():
                return replace(self, tasks=event.tasks, tasks_done=event.done)
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
        state = self if event.steps is None else self._replaced(event.steps)
        done, open_again = set(event.done), set(event.not_done)
        plan = tuple(
            PlanStep(step.text, (step.done or number in done) and number not in open_again)
            for number, step in enumerate(state.plan, 1)
        )
        current = state.current_step if event.current_step is None else event.current_step
        return replace(
            state,
            plan=plan,
            current_step=current if 0 <= current <= len(plan) else 0,
            **_given(event, "progress", "blocked_on"),
        )

    def _replaced(self, steps: Iterable[PlanStep]) -> "WorkingState":
        """Another plan: steps that stay are as done as they were, and the current one is still the current one.

        What was done and is no longer in the plan is kept apart, the newest of it in words. A finished step that
        comes back later is open: work left undone because of its words would be worse than work done twice.
        """
        new = [step for step in steps if step.text.strip()]
        stays = self._places([step.text for step in new])
        done = {there for here, there in stays.items() if self.plan[here].done}
        plan = tuple(PlanStep(step.text, step.done or n in done) for n, step in enumerate(new))
        gone = [step.text for n, step in enumerate(self.plan) if step.done and n not in stays]
        again = {_same(text) for text in gone}
        finished = [*(text for text in self.finished if _same(text) not in again), *gone]
        return replace(
            self,
            plan=plan,
            current_step=stays.get(self.current_step - 1, -1) + 1,
            finished=tuple(finished[-FINISHED:]),
            finished_before=self.finished_before + max(0, len(finished) - FINISHED),
        )

    def _places(self, new: Sequence[str]) -> dict[int, int]:
        """Which place each step has among the words of a new plan, counted from 0.

        Of several with the same words, when there are fewer now, the finished ones left first, the current one last.
        """
        known: dict[str, list[int]] = {}
        for number, step in enumerate(self.plan):
            known.setdefault(_same(step.text), []).append(number)
        places: dict[str, list[int]] = {}
        for number, text in enumerate(new):
            places.setdefault(_same(text), []).append(number)
        found: dict[int, int] = {}
        for words, numbers in known.items():
            there = places.get(words, [])
            leaving = sorted(numbers, key=lambda n: (not self.plan[n].done, n == self.current_step - 1))
            gone = set(leaving[: max(0, len(numbers) - len(there))])
            found.update(zip((n for n in numbers if n not in gone), there, strict=False))
        return found

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


def _given(event: PlanChanged | StateChanged, *names: str) -> dict[str, Any]:
    """The fields of a partial update that are set."""
    return {name: value for name in names if (value := getattr(event, name)) is not None}


def made_way(before: WorkingState, after: WorkingState) -> tuple[Directive, ...]:
    """The directives that fell out of the window between two states, but for those that were given again since."""
    known = {directive.text for directive in after.directives}
    fell = after.dropped_directives[len(before.dropped_directives) :]
    return tuple(directive for directive in fell if directive.text not in known)


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
