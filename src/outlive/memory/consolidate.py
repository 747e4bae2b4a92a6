"""Bringing memories into order: when it is due, from a snapshot, as one step that can be undone, or not at all."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import cast

import msgspec
from msgspec.structs import replace

from outlive.memory.changelog import bare
from outlive.memory.errors import InvalidAnswer, MemoryRefused
from outlive.memory.guard import blocked_reason
from outlive.memory.memories import Memories
from outlive.memory.operations import MergePlan, batches, by_rules, consolidation_request, read_operations
from outlive.memory.supersession import in_use, reach
from outlive.stores.memories.protocol import MemoryWriter
from outlive.stores.memories.records import Memory, MemoryStep, OversizedMemory, Scope

Ask = Callable[[str], str]
"""A model: a prompt in, its answer out."""

MANY = 20
"""Changes since the last time from which on it is due."""
SESSIONS = 5
AGE = timedelta(days=7)
_FEW = 2
"""Memories from which on a model that was not asked for has anything to bring into order."""
_OWN = ("consolidate", "undo")


class Busy(MemoryRefused):
    """Another process is at it."""


class ConsolidationReport(msgspec.Struct, kw_only=True):
    """What a consolidation did, or why it did nothing."""

    scope: Scope
    step: int = 0
    seen: int = 0
    notes: list[str] = []
    problem: str = ""
    """Why nothing was changed, though it was tried."""


def due(steps: Sequence[MemoryStep], *, now: datetime | None = None, sessions: int = 0) -> str:
    """Why it is due, or nothing. `sessions` is how many there were since the last time, as far as the caller knows.

    A time without result counts as one too, so that it does not run again on every turn.
    """
    now = now or datetime.now(UTC)
    last = _last(steps)
    changes = sum(max(1, len(step.changes)) for step in steps[last:] if step.op not in _OWN)
    since = steps[last - 1].at if last else (steps[0].at if steps else now)
    if changes >= MANY:
        return f"{changes} changes since the last time"
    if changes and sessions >= SESSIONS:
        return f"{sessions} sessions since the last time"
    if changes and now - since >= AGE:
        return f"{(now - since).days} days since the last time"
    return ""


def last_time(steps: Sequence[MemoryStep]) -> float:
    """When it was done last, in seconds; without a last time, when the first memory was made."""
    return steps[max(_last(steps) - 1, 0)].at.timestamp() if steps else float("inf")


def _last(steps: Sequence[MemoryStep]) -> int:
    return next((number for number in range(len(steps), 0, -1) if steps[number - 1].op == "consolidate"), 0)


def consolidate(memories: Memories, ask: Ask | None = None, *, scope: Scope = "project") -> ConsolidationReport:
    """Consolidate now: by rules, and with `ask` by a model too. Raises Busy when another process does."""
    with closing(consolidation(memories, scope=scope, model=ask is not None)) as work:
        found = step(work)
        while isinstance(found, str) and ask is not None:
            found = step(work, ask(found))
        return cast(ConsolidationReport, found)


def step(work: "Consolidating", answer: str | None = None) -> str | ConsolidationReport:
    """Go on with a consolidation: the next prompt for a model, or what was done."""
    try:
        return work.send(answer)
    except StopIteration as end:
        return cast(ConsolidationReport, end.value)


Consolidating = Generator[str, str | None, ConsolidationReport]
"""A consolidation at work: it yields prompts for a model and is sent the answers."""


def consolidation(memories: Memories, *, scope: Scope, model: bool, most: int | None = None) -> Consolidating:
    """Consolidate by rules, and with `model` by a model too. Raises Busy when another process does. With `most`, the
    model is left out where it takes more requests than that, or is not worth one.

    The model is asked without a lock on writing; a change by others meanwhile voids the plan.
    """
    store = memories.stores[scope]
    with store.exclusive("consolidate") as mine:
        if not mine:
            raise Busy("another process is consolidating these memories; nothing was changed")
        snapshot = store.read(lambda tx: tx.all())
        try:
            plan = by_rules(snapshot)
            if model:
                yield from _with_model(snapshot, plan, most)
            return memories.write(scope, lambda tx: _apply(tx, snapshot, plan, memories.actor, scope))
        except (InvalidAnswer, OversizedMemory) as error:
            reason = str(error)
        made = memories.write(
            scope, lambda tx: tx.record("consolidate", actor=memories.actor, note=f"nothing changed: {reason}")
        )
        return ConsolidationReport(scope=scope, step=made.id, seen=len(snapshot), problem=reason)


def _with_model(snapshot: Sequence[Memory], plan: MergePlan, most: int | None) -> Generator[str, str | None, None]:
    """Add to the plan of the rules what a model makes of what they leave: all batches, or none."""
    after = [plan.puts.get(memory.slug, memory) for memory in snapshot]
    shown = [memory for memory in in_use(after) if not blocked_reason(memory)]
    before = {memory.slug: memory.revision for memory in snapshot}
    portions = batches(shown)
    if most is not None and (len(portions) > most or len(shown) < _FEW):
        return
    for batch in portions:
        more = read_operations((yield consolidation_request(batch)) or "", batch)
        plan.puts |= {slug: replace(memory, revision=before[slug] + 1) for slug, memory in more.puts.items()}
        plan.adds += more.adds
        plan.retire |= more.retire
        plan.notes += more.notes


def _apply(
    tx: MemoryWriter, snapshot: Sequence[Memory], plan: MergePlan, actor: str, scope: Scope
) -> ConsolidationReport:
    """One transaction. What was touched must still be what the plan was made from."""
    then = {memory.slug: memory for memory in snapshot}
    needed = plan.touched | {slug for memory in plan.adds for slug in memory.supersedes}
    for slug in sorted(needed):
        if bare(tx.get(slug)) != bare(then.get(slug)):
            raise InvalidAnswer(f"{slug} was changed meanwhile; nothing was changed, it can be done again")
    for slug, memory in plan.puts.items():
        now = tx.get(slug)
        tx.put(replace(memory, last_used=now.last_used if now else None))
    for memory in plan.adds:
        tx.put(replace(memory, slug=tx.new_slug(memory.name), scope=scope, created=tx.now, last_used=None))
    # What a retired one had superseded goes with it, so that nothing wrong comes back.
    edges = {memory.slug: memory.supersedes for memory in tx.all()}
    for old in {slug for retired in plan.retire for slug in (retired, *reach(retired, edges))}:
        now = tx.get(old)
        if now is not None and now.archived is None:
            tx.put(replace(now, archived=tx.now, revision=now.revision + 1))
    step = tx.record("consolidate", actor=actor, note="; ".join(plan.notes)[:2_000], seen=len(snapshot))
    return ConsolidationReport(scope=scope, step=step.id, seen=len(snapshot), notes=plan.notes)
