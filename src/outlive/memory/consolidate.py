"""Consolidation of memories: decides when it is due and applies the plan as one undoable step, or not at all."""

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
"""Asks a model: takes a prompt, returns the answer."""

DUE_AFTER_CHANGES = 20
"""Changes since the last consolidation that make it due."""
DUE_AFTER_SESSIONS = 5  # sessions since then, if anything changed; `DUE_AFTER` likewise
DUE_AFTER = timedelta(days=7)
_MIN_MEMORIES = 2
"""A model that the user did not ask for is used only from this many memories on."""
_OWN_OPERATIONS = ("consolidate", "undo")


class ConsolidationBusy(MemoryRefused):
    """Another process is consolidating."""


class ConsolidationReport(msgspec.Struct, kw_only=True):
    """What a consolidation did, or why it did nothing."""

    scope: Scope
    step: int = 0
    seen: int = 0
    notes: list[str] = []
    problem: str = ""
    """Why an attempt changed nothing."""


def due(steps: Sequence[MemoryStep], *, now: datetime | None = None, sessions: int = 0) -> str:
    """Why a consolidation is due, else empty. `sessions` counts those since the last one, as far as the caller knows.

    An attempt without a result counts too, so that it does not run again on every turn.
    """
    now = now or datetime.now(UTC)
    last = _last(steps)
    changes = sum(max(1, len(step.changes)) for step in steps[last:] if step.op not in _OWN_OPERATIONS)
    since = steps[last - 1].at if last else (steps[0].at if steps else now)
    if changes >= DUE_AFTER_CHANGES:
        return f"{changes} changes since the last time"
    if changes and sessions >= DUE_AFTER_SESSIONS:
        return f"{sessions} sessions since the last time"
    if changes and now - since >= DUE_AFTER:
        return f"{(now - since).days} days since the last time"
    return ""


def last_time(steps: Sequence[MemoryStep]) -> float:
    """Time of the last consolidation in seconds; before the first, the time of the first memory."""
    return steps[max(_last(steps) - 1, 0)].at.timestamp() if steps else float("inf")


def _last(steps: Sequence[MemoryStep]) -> int:
    return next((number for number in range(len(steps), 0, -1) if steps[number - 1].op == "consolidate"), 0)


def consolidate(memories: Memories, ask: Ask | None = None, *, scope: Scope = "project") -> ConsolidationReport:
    """Consolidate now: by rules, and with `ask` by a model too. Raises ConsolidationBusy if another process does."""
    with closing(consolidation(memories, scope=scope, model=ask is not None)) as work:
        found = step(work)
        while isinstance(found, str) and ask is not None:
            found = step(work, ask(found))
        return cast(ConsolidationReport, found)


def step(work: "Consolidating", answer: str | None = None) -> str | ConsolidationReport:
    """Advance a consolidation: returns the next prompt for a model, or the report."""
    try:
        return work.send(answer)
    except StopIteration as end:
        return cast(ConsolidationReport, end.value)


Consolidating = Generator[str, str | None, ConsolidationReport]
"""A consolidation in progress: yields prompts for a model and is sent the answers."""


def consolidation(memories: Memories, *, scope: Scope, model: bool, most: int | None = None) -> Consolidating:
    """Consolidate by rules, and with `model` by a model too. Raises ConsolidationBusy if another process is at it.

    With `most`, the model is left out if it would take more requests than that, or is not worth one. No write lock is
    held while the model answers; a concurrent change voids the plan.
    """
    store = memories.stores[scope]
    with store.exclusive("consolidate") as mine:
        if not mine:
            raise ConsolidationBusy("another process is consolidating these memories; nothing was changed")
        snapshot = store.read(lambda tx: tx.all())
        try:
            plan = by_rules(snapshot)
            if model:
                yield from _with_model(snapshot, plan, most)
            return memories.write(scope, lambda tx: _apply(tx, snapshot, plan, memories.actor, scope))
        except (InvalidAnswer, OversizedMemory) as error:
            reason = str(error)
        written = memories.write(
            scope, lambda tx: tx.record("consolidate", actor=memories.actor, note=f"nothing changed: {reason}")
        )
        return ConsolidationReport(scope=scope, step=written.id, seen=len(snapshot), problem=reason)


def _with_model(snapshot: Sequence[Memory], plan: MergePlan, most: int | None) -> Generator[str, str | None, None]:
    """Extend the plan of the rules by the model's operations on the rest: all batches, or none."""
    after = [plan.puts.get(memory.slug, memory) for memory in snapshot]
    shown = [memory for memory in in_use(after) if not blocked_reason(memory)]
    before = {memory.slug: memory.revision for memory in snapshot}
    portions = batches(shown)
    if most is not None and (len(portions) > most or len(shown) < _MIN_MEMORIES):
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
    """Apply the plan in one transaction. The memories it touches must be unchanged since the snapshot."""
    then = {memory.slug: memory for memory in snapshot}
    needed = plan.touched | {slug for memory in plan.adds for slug in memory.supersedes}
    for slug in sorted(needed):
        if bare(tx.get(slug)) != bare(then.get(slug)):
            raise InvalidAnswer(f"{slug} was changed meanwhile; nothing was changed, it can be done again")
    for memory in plan.puts.values():
        tx.put(memory)
    for memory in plan.adds:
        tx.put(replace(memory, slug=tx.new_slug(memory.name), scope=scope, created=tx.now))
    # What a retired one had superseded goes with it, so that nothing wrong comes back.
    edges = {memory.slug: memory.supersedes for memory in tx.all()}
    for old in {slug for retired in plan.retire for slug in (retired, *reach(retired, edges))}:
        now = tx.get(old)
        if now is not None and now.archived is None:
            tx.put(replace(now, archived=tx.now, revision=now.revision + 1))
    step = tx.record("consolidate", actor=actor, note="; ".join(plan.notes)[:2_000], seen=len(snapshot))
    return ConsolidationReport(scope=scope, step=step.id, seen=len(snapshot), notes=plan.notes)
