"""The state block: the working state, in a budget. What does not fit is said.

It enters the view when it has changed, whole or as a change of the block before, and stays there until a pass.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from outlive.context.ledger import Ledger, brief_paths
from outlive.context.tokens import estimate
from outlive.request import STATE_END, STATE_START
from outlive.state import WorkingState

FILES, TASKS, NOTES = 8, 20, 8
"""Rows of each kind: every request has the block, and what it leaves out can be recalled."""
LONGEST_FINISHED = 80
"""Characters of a finished step that is no longer in the plan."""
LONGEST_NOTE = 600
"""Characters: notes stand in every request until the user speaks again."""
_LINE_END = re.compile(r"(?:\r\n|[\n\r\v\f\x85\u2028\u2029])[ \t]*")
_TAG = re.compile(r"<(?=/?state>)")
_MARK = re.compile(r"^(?:\[\w+\] \d+\. |- (?=#))")
_STATUS = re.compile(r" \[\w+\]$")
PROMPT_CHANGED = "The system prompt has changed since it was sent; + is new, - no longer holds:"
REPLACES = "This replaces the state blocks above."
CHANGES = "Changed since the state block above; the rest of it holds:"
LARGEST_CHANGE = 0.6
"""Of the whole block: a longer list of changes is told as a whole block."""


class Section(NamedTuple):
    """A part of the block."""

    name: str
    text: str
    must: bool
    """It is never left out."""
    news: bool = True
    """Whether a change of it is worth a new block. Files and actions are not: the conversation shows them."""


class StateBlock(NamedTuple):
    """The state, rendered."""

    text: str = ""
    sections: Mapping[str, str] = {}
    """Those whose change is told; empty for one that was left out for room."""

    def after(self, known: Mapping[str, str] | None) -> str:
        """What to tell a model that knows these sections: nothing, the changes or all. None: it knows no block."""
        if known is None:
            return self.text
        if not (rows := changed_rows(known, self.sections)):
            return ""
        changes = "\n".join([STATE_START, CHANGES, *rows, STATE_END])
        return changes if len(changes) < LARGEST_CHANGE * len(self.text) else self.again()

    def again(self) -> str:
        """All of it, below another block."""
        rest = self.text.removeprefix(STATE_START) or f"\nNothing is open.\n{STATE_END}"
        return f"{STATE_START}\n{REPLACES}{rest}"


def changed_rows(known: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What to say to one who knows the sections as they were."""
    rows: list[str] = []
    for name, text in now.items():
        before = known.get(name, "")
        if text in (before, ""):
            continue
        if name in ("plan", "open tasks", "notes"):
            rows += _changed_list(before.split("\n"), text.split("\n"), forgets=name == "notes")
        else:
            rows.append(text)
    gone = [name for name in known if name not in now and name != "notes"]
    return [*rows, *([f"No longer: {', '.join(gone)}"] if gone else [])]


def _changed_list(before: list[str], now: list[str], *, forgets: bool) -> list[str]:
    """The rows that are new, under their title, and those that are gone; `forgets`: these are not told."""
    new = [row for row in now[1:] if row not in before]
    kept = {_subject(row) for row in now}
    gone = [] if forgets else [row for row in before[1:] if _subject(row) not in kept]
    return [*([now[0]] if new else []), *new, *(f"No longer: {_subject(row)}" for row in gone)]


def _subject(row: str) -> str:
    """A step or task without its mark and status."""
    return _STATUS.sub("", _MARK.sub("", row))


def render_state(
    state: WorkingState,
    ledger: Ledger,
    budget: float,
    *,
    compacted: bool,
    files: bool = True,
    notes: Iterable[str] = (),
    system_news: str = "",
    steps_shown: int = 0,
) -> StateBlock:
    """The block; its text is empty when there is nothing to say.

    Recent actions and changed files are in the conversation itself until something has left it (`compacted`). The
    newest `steps_shown` actions are left out, and so are the `files` if the digest names them.
    """
    recent = state.recent_actions[: max(len(state.recent_actions) - steps_shown, 0)] if compacted else ()
    changed = Section("system prompt", f"{PROMPT_CHANGED}\n    {inset(system_news)}" if system_news else "", True)
    sections = [
        section
        for section in (changed, *_sections(state, ledger, compacted and files, notes, recent))
        if section.text
    ]
    if not sections:
        return StateBlock()
    room = budget - sum(estimate(section.text) + 1 for section in sections if section.must) - 12
    rows, left_out = [STATE_START], []
    for section in sections:
        cost = 0.0 if section.must else estimate(section.text) + 1
        if cost <= room or section.must:
            rows.append(section.text)
            room -= cost
        else:
            left_out.append(section.name)
    if left_out:
        rows.append(f"(left out for room: {', '.join(left_out)})")
    news = {name: "" if name in left_out else text for name, text, _, is_news in sections if is_news}
    return StateBlock("\n".join([*rows, STATE_END]), news)


def _sections(
    state: WorkingState, ledger: Ledger, files: bool, notes: Iterable[str], recent: Sequence[str]
) -> list[Section]:
    return [
        Section("mode", f"Permission mode: {state.mode}" if state.mode else "", True),
        Section("goal", f"Goal: {inset(state.goal)}" if state.goal else "", True),
        Section("criteria", _listed("Done when", map(inset, state.criteria)), True),
        Section(
            "directives",
            _listed("Standing instructions of the user", (_TAG.sub("&lt;", d.text) for d in state.directives)),
            True,
        ),
        Section("plan", plan_text(state), True),
        Section("progress", f"Progress: {inset(state.progress)}" if state.progress else "", False),
        Section("blocked on", f"Blocked on: {inset(state.blocked_on)}" if state.blocked_on else "", True),
        Section("open tasks", tasks_text(state), True),
        Section("notes", _listed("Noticed", (inset(shortened(note)) for note in list(notes)[-NOTES:])), True),
        Section("files touched", _files(ledger) if files else "", False, False),
        Section(
            "kept whole", f"Kept whole: {inset(' '.join(state.preserved_refs))}" if state.preserved_refs else "", True
        ),
        Section("scratchpad", f"Scratchpad: {inset(state.scratchpad)}" if state.scratchpad else "", False),
        Section("recent actions", f"Recent actions: {inset(' | '.join(recent))}" if recent else "", False, False),
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
    """Open tasks in their order; of a long list the rest by id, so that none is forgotten. Then which are done."""
    by_need = sorted(state.tasks, key=lambda task: task.status != "in_progress")
    told = sorted(by_need[:TASKS], key=lambda task: task.id)
    rows = [f"- #{task.id} {inset(task.subject)} [{task.status}]" for task in told]
    if rest := by_need[TASKS:]:
        rows.append("- also open: " + " ".join(f"#{task.id}" for task in rest))
    if state.tasks_done:
        rows.append(f"- done: {ranges(state.tasks_done)}")
    return "\n".join(["Open tasks:" if told else "Tasks:", *rows]) if rows else ""


def ranges(numbers: Sequence[int]) -> str:
    """`#1–#4, #7`, of ascending numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"#{run[0]}" if len(run) == 1 else f"#{run[0]}–#{run[-1]}" for run in runs)


def _files(ledger: Ledger) -> str:
    newest = list(ledger.written)[-FILES:]
    more = len(ledger.written) - len(newest)
    if not newest:
        return ""
    return f"Files changed: {brief_paths(newest)}" + (f" (and {more} before)" if more else "")
