"""The change log of memories for the page: the newest step first, each diff on request."""

import msgspec

from outlive.memory.changelog import ChangelogEntry, diff, find_step
from outlive.memory.memories import Memories
from outlive.printable import clean
from outlive.stores.memories.records import Scope
from outlive.web.excerpt import line

MOST_NAMED = 20
"""Memories of one step that are named, or shown as diffs."""
MOST_LINES = 400  # of a diff; the rest is counted
LONGEST_LINE = 2_000  # a body may be one line


class Touched(msgspec.Struct, frozen=True):
    slug: str
    name: str


class LoggedStep(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    scope: Scope
    at: float
    op: str
    actor: str
    note: str
    undoes: int
    undone: bool
    touched: list[Touched]
    count: int
    """Memories that it changed, named or not."""


class Steps(msgspec.Struct, frozen=True):
    total: int
    steps: list[LoggedStep]


class Diff(msgspec.Struct, frozen=True):
    lines: list[str]
    left_out: int
    """Memories and lines that are not shown."""


def steps(memories: Memories, scope: str, slug: str, skip: int, limit: int) -> Steps:
    """Steps of all memories, or those that touched one, the newest first."""
    found = memories.log(f"{scope}/{slug}" if slug else "")
    found = [entry for entry in found if not scope or entry.scope == scope]
    return Steps(len(found), [_step(entry) for entry in found[::-1][skip : skip + limit]])


def step_diff(memories: Memories, id: str) -> Diff:
    changes = find_step(memories.log(), id).step.changes
    lines: list[str] = []
    for change in changes[:MOST_NAMED]:
        lines += [clean(text[:LONGEST_LINE]) for text in diff(change)]
    return Diff(lines[:MOST_LINES], max(0, len(changes) - MOST_NAMED) + max(0, len(lines) - MOST_LINES))


def _step(entry: ChangelogEntry) -> LoggedStep:
    step = entry.step
    touched = [(change.slug, change.after or change.before) for change in step.changes[:MOST_NAMED]]
    return LoggedStep(
        id=entry.id,
        scope=entry.scope,
        at=step.at.timestamp(),
        op=line(step.op, 40),
        actor=line(step.actor, 60),
        note=line(step.note),
        undoes=step.undoes,
        undone=entry.undone,
        touched=[Touched(slug, line(memory.name, 80) if memory else slug) for slug, memory in touched],
        count=len(step.changes),
    )
