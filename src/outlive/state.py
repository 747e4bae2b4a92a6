"""Working state: what a session is doing. Rebuilt from the log alone, never summarised.

It is a value: `state.apply(event)` returns the next one. `check` validates a change before it is logged; events that
are already in the log are applied as far as they make sense, so a bad line cannot stop a session.
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

MAX_UNPINNED_DIRECTIVES = 8  # in every state block; older ones leave it and stay in the log
MAX_FINISHED_SHOWN = 10
"""Finished steps that left the plan and are still shown; older ones are only counted."""
MAX_RECENT_ACTIONS = 6  # turns, a line each, in every state block
MAX_ACTION_CHARS = 36  # about ten tokens


class StateError(OutliveError):
    """An invalid change of the working state; nothing was changed."""


class Directive(Struct, frozen=True):
    """A standing instruction in the user's own words."""

    text: str
    source: int = 0
    pinned: bool = False


class WorkingState(Struct, frozen=True):
    """Everything that must survive whatever happens to the conversation."""

    goal: str = ""
    criteria: tuple[str, ...] = ()
    plan: tuple[PlanStep, ...] = ()
    current_step: int = 0
    """Counted from 1; 0 means none."""
    finished: tuple[str, ...] = ()
    """Steps that were done when a new plan left them out, newest last."""
    finished_before: int = 0
    """The number of older ones."""
    progress: str = ""
    scratchpad: str = ""
    blocked_on: str = ""
    directives: tuple[Directive, ...] = ()
    dropped_directives: tuple[Directive, ...] = ()
    preserved_refs: tuple[str, ...] = ()
    recent_actions: tuple[str, ...] = ()
    mode: str = ""
    tasks: tuple[OpenTask, ...] = ()
    tasks_done: tuple[int, ...] = ()

    def check(self, event: Event) -> None:
        """Refuse an invalid change before it is logged."""
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
        """The step that is meant: by its text, or by an unambiguous beginning of it. `steps` are those of a plan that
        is being made."""
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
        """Replace the plan: steps that stay keep `done`, and the current step stays current.

        Finished steps that the new plan leaves out are kept separately. A finished step that comes back later is
        open: leaving work undone because of its wording would be worse than doing it twice.
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
            finished=tuple(finished[-MAX_FINISHED_SHOWN:]),
            finished_before=self.finished_before + max(0, len(finished) - MAX_FINISHED_SHOWN),
        )

    def _places(self, new: Sequence[str]) -> dict[int, int]:
        """The index of each step in a new plan. Of several with the same text, if there are fewer now, finished ones
        leave first and the current one last."""
        known: dict[str, list[int]] = {}
        for number, step in enumerate(self.plan):
            known.setdefault(_same(step.text), []).append(number)
        places: dict[str, list[int]] = {}
        for number, text in enumerate(new):
            places.setdefault(_same(text), []).append(number)
        found: dict[int, int] = {}
        for words, numbers in known.items():
            indexes = places.get(words, [])
            leaving = sorted(numbers, key=lambda n: (not self.plan[n].done, n == self.current_step - 1))
            gone = set(leaving[: max(0, len(numbers) - len(indexes))])
            found.update(zip((n for n in numbers if n not in gone), indexes, strict=False))
        return found

    def _direct(self, event: DirectiveGiven) -> "WorkingState":
        text = event.text.strip()
        if not text:
            return self
        pinned = event.pinned or any(d.pinned for d in self.directives if d.text == text)
        kept = [d for d in self.directives if d.text != text] + [Directive(text, event.source, pinned)]
        loose = [d for d in kept if not d.pinned]
        gone = loose[: max(0, len(loose) - MAX_UNPINNED_DIRECTIVES)]
        return replace(
            self,
            directives=tuple(d for d in kept if d not in gone),
            dropped_directives=(*self.dropped_directives, *gone),
        )

    def _act(self, event: AssistantSaid) -> "WorkingState":
        labels = [call_label(call, MAX_ACTION_CHARS) for call in tool_calls(event.blocks)]
        if not labels:
            return self
        line = labels[0] + (f" (+{len(labels) - 1} more)" if len(labels) > 1 else "")
        return replace(self, recent_actions=(*self.recent_actions, line)[-MAX_RECENT_ACTIONS:])


def _given(event: PlanChanged | StateChanged, *names: str) -> dict[str, Any]:
    """The fields of a partial update that are set."""
    return {name: value for name in names if (value := getattr(event, name)) is not None}


def made_way(before: WorkingState, after: WorkingState) -> tuple[Directive, ...]:
    """Directives that dropped out of the window between two states and were not given again."""
    known = {directive.text for directive in after.directives}
    fell = after.dropped_directives[len(before.dropped_directives) :]
    return tuple(directive for directive in fell if directive.text not in known)


def compression_line(event: Compacted | Undone) -> str:
    """A pass in one line."""
    if isinstance(event, Undone):
        return f"event {event.target} taken back" if event.what == "pass" else f"back to event {event.target}"
    receipt = event.receipt
    sizes = f"{receipt.before / 1000:.0f}k -> {receipt.after / 1000:.0f}k tokens"
    return f"{'+'.join(receipt.rungs)} ({receipt.reason}) {sizes}"


def _same(text: str) -> str:
    """Normalised text: two steps with the same text are the same step."""
    return " ".join(text.casefold().split())
