"""The state block: the working state as the last words of every request, in a budget. What does not fit is said."""

import re
from collections.abc import Iterable, Sequence

from outlive.context.ledger import Ledger, brief_paths
from outlive.context.tokens import estimate
from outlive.request import STATE_END, STATE_START
from outlive.state import WorkingState

FILES, TASKS, NOTES, COMPRESSION_ROWS = 8, 20, 8, 3
"""Rows of each kind: every request has the block, and what it leaves out can be recalled."""
LONGEST_FINISHED = 80
"""Characters of a finished step that is no longer in the plan."""
LONGEST_NOTE = 600
"""Characters: notes stand in every request until the user speaks again."""
_LINE_END = re.compile(r"(?:\r\n|[\n\r\v\f\x85\u2028\u2029])[ \t]*")
_TAG = re.compile(r"<(?=/?state>)")
Section = tuple[str, str, bool]
"""Name, text, and whether it may never be left out."""


def render_state(
    state: WorkingState,
    ledger: Ledger,
    budget: float,
    *,
    compacted: bool,
    notes: Iterable[str] = (),
    steps_shown: int = 0,
) -> str:
    """The block, or nothing when there is nothing to say.

    Files of the recent past stand in the conversation itself until something has left it, and actions as long as
    their steps do: the newest `steps_shown` are not said again.
    """
    recent = state.recent_actions[: max(len(state.recent_actions) - steps_shown, 0)] if compacted else ()
    sections = [section for section in _sections(state, ledger, compacted, notes, recent) if section[1]]
    if not sections:
        return ""
    room = budget - sum(estimate(text) + 1 for _, text, must in sections if must) - 12
    rows, left_out = [STATE_START], []
    for name, text, must in sections:
        if not must:
            room -= estimate(text) + 1
        if must or room >= 0:
            rows.append(text)
        else:
            left_out.append(name)
            room += estimate(text) + 1
    if left_out:
        rows.append(f"(left out for room: {', '.join(left_out)})")
    return "\n".join([*rows, STATE_END])


def _sections(
    state: WorkingState, ledger: Ledger, compacted: bool, notes: Iterable[str], recent: Sequence[str]
) -> list[Section]:
    return [
        ("mode", f"Permission mode: {state.mode}" if state.mode else "", True),
        ("goal", f"Goal: {inset(state.goal)}" if state.goal else "", True),
        ("criteria", _listed("Done when", map(inset, state.criteria)), True),
        (
            "directives",
            _listed("Standing instructions of the user", (_TAG.sub("&lt;", d.text) for d in state.directives)),
            True,
        ),
        ("plan", plan_text(state), True),
        ("progress", f"Progress: {inset(state.progress)}" if state.progress else "", False),
        ("blocked on", f"Blocked on: {inset(state.blocked_on)}" if state.blocked_on else "", True),
        ("open tasks", tasks_text(state), True),
        ("notes", _listed("Noticed", (inset(shortened(note)) for note in list(notes)[-NOTES:])), True),
        ("files touched", _files(ledger) if compacted else "", False),
        ("kept whole", f"Kept whole: {inset(' '.join(state.preserved_refs))}" if state.preserved_refs else "", True),
        ("scratchpad", f"Scratchpad: {inset(state.scratchpad)}" if state.scratchpad else "", False),
        ("compression history", _compression(state), False),
        ("recent actions", f"Recent actions: {inset(' | '.join(recent))}" if recent else "", False),
    ]


def inset(text: str) -> str:
    """A text that is not the user's, as the block shows it: continuation lines are indented, and it cannot end the
    block, so that nothing in it looks like a mode or like standing instructions."""
    return _TAG.sub("&lt;", _LINE_END.sub("\n    ", text))


def shortened(text: str, longest: int = LONGEST_NOTE) -> str:
    """A note (or another text) as the block shows it."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _listed(title: str, items: Iterable[str]) -> str:
    rows = "\n".join(f"- {item}" for item in items)
    return f"{title}:\n{rows}" if rows else ""


def plan_text(state: WorkingState) -> str:
    """`[done] 1. …`, `[active] 2. …`, `[todo] 3. …`, and above them what was done before this plan."""
    rows = []
    if state.finished:
        more = f" (and {state.finished_before} before)" if state.finished_before else ""
        rows.append(
            f"Done before: {'; '.join(inset(shortened(text, LONGEST_FINISHED)) for text in state.finished)}{more}"
        )
    rows += ["Plan:"] if state.plan else []
    for number, step in enumerate(state.plan, 1):
        mark = "done" if step.done else "active" if number == state.current_step else "todo"
        rows.append(f"[{mark}] {number}. {inset(step.text)}")
    return "\n".join(rows)


def tasks_text(state: WorkingState) -> str:
    """Open tasks, those in progress first; of a long list the rest by id, so that none is forgotten."""
    ordered = sorted(state.tasks, key=lambda task: task.status != "in_progress")
    rows = [f"- #{task.id} {inset(task.subject)} [{task.status}]" for task in ordered[:TASKS]]
    if rest := ordered[TASKS:]:
        rows.append("- also open: " + " ".join(f"#{task.id}" for task in rest))
    return "\n".join(["Open tasks:", *rows]) if rows else ""


def _files(ledger: Ledger) -> str:
    newest = list(ledger.written)[-FILES:]
    more = len(ledger.written) - len(newest)
    if not newest:
        return ""
    return f"Files changed: {brief_paths(newest)}" + (f" (and {more} before, in the digest)" if more else "")


def _compression(state: WorkingState) -> str:
    newest = state.compression_log[-COMPRESSION_ROWS:]
    return f"Compactions: {inset('; '.join(newest))}" if newest else ""
