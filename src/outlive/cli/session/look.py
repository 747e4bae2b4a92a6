"""list, show, receipts, export."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from outlive.cli.echo import echo, output_option, print_json, write_lines
from outlive.cli.session.common import command, engine_of, moment, say_damage, session_argument
from outlive.cli.session.event_lines import LINE_COLUMNS, event_line
from outlive.context.engine import Engine
from outlive.context.log.pages import handle
from outlive.context.passes.departures import UnitDeparture, unit_departures
from outlive.context.passes.pinning import kept
from outlive.context.passes.receipts import shown_pages
from outlive.context.state_block import render_state
from outlive.events import (
    Compacted,
    Event,
    Undone,
    encode,
)
from outlive.printable import one_line
from outlive.stores.logs.protocol import LogStore
from outlive.stores.logs.reading import full_log

_STATE_BUDGET_TOKENS = 4000.0
"""Token budget of the state block."""
_MAX_DEPARTURES_NAMED = 6
"""How many of the units that left in a pass are named, largest first."""


@command("list")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most this many.")
def list_(store: LogStore, limit: int | None, as_json: bool) -> None:
    """List sessions, the newest first.

    \b
    Examples:
      outlive session list
      outlive session list -n 5 --json
    """
    found = store.sessions()[:limit]
    for text in store.left_out():
        echo(f"{click.style('left out:', fg='yellow')} {text}", err=True)
    if as_json:
        print_json(found)
        return
    if not found:
        echo(click.style("no sessions", dim=True), err=True)
    for info in found:
        origin = f"fork of {info.forked_from}" if info.forked_from else "replay" if info.replay else ""
        facts = ", ".join(filter(None, [f"{info.last_event} events", origin]))
        echo(f"{click.style(info.id, bold=True)}  {moment(info.updated)}  {click.style(facts, dim=True)}")
        if info.title:
            echo(f"  {info.title}")


@command()
@session_argument
@click.option("--events", "with_events", is_flag=True, help="Every event, one line each.")
def show(store: LogStore, session: str, with_events: bool, as_json: bool) -> None:
    """Show the state of a session, or (--events) what was said and done in it.

    With --json: the working state and the sizes, or the events themselves.

    \b
    Examples:
      outlive session show SESSION
      outlive session show SESSION --events
      outlive session show SESSION --json
    """
    info = store.info(session)
    log = full_log(store, session)
    say_damage(log.damage)
    if with_events:
        if as_json:
            print_json([msgspec.Raw(encode(event)) for event in log.events])
        else:
            for event in log.events:
                echo(f"{event.id:>6}  {moment(event.time)}  {event_line(event)}")
        return
    engine = engine_of(log.events)
    if as_json:
        about = {"session": info, "state": engine.history.state, "kept": kept(engine)}
        print_json(about | _sizes(engine, log.events))
    else:
        echo("\n".join(_shown(info.title, info.id, engine, log.events)))


def _sizes(engine: Engine, events: Iterable[Event]) -> dict[str, int]:
    passes = sum(isinstance(event, Compacted) for event in events)
    return {"units": len(engine.history.units), "passes": passes, "handles": len(engine.history.pages)}


def _shown(title: str, name: str, engine: Engine, events: Iterable[Event]) -> Iterator[str]:
    sizes = _sizes(engine, events)
    yield f"{click.style(name, bold=True)}  {title}"
    pages = f", {handle(1)} to {handle(sizes['handles'])}" if sizes["handles"] else ""
    yield click.style(f"{sizes['units']} units, {sizes['passes']} passes{pages}", dim=True)
    history = engine.history
    block = render_state(
        history.state, history.ledger, _STATE_BUDGET_TOKENS, compacted=True, notes=history.notes
    ).text
    yield from (["", *block.splitlines()[1:-1]] if block else [])
    for result in kept(engine):
        yield click.style(
            f"kept whole: {result.what}  {' '.join(result.handles)}  {result.tokens:,} tokens", dim=True
        )


@command()
@session_argument
@click.option("--all", "every", is_flag=True, help="Name every unit that left.")
def receipts(store: LogStore, session: str, every: bool, as_json: bool) -> None:
    """What each pass did: tokens before and after by kind, which units left and the handles that give them back.

    The largest units are named; with --json, or --all, every one of them.

    \b
    Examples:
      outlive session receipts SESSION
      outlive session receipts SESSION --json
    """
    log = full_log(store, session)
    say_damage(log.damage)
    undone = {event.target for event in log.events if isinstance(event, Undone) and event.what == "pass"}
    passes = [event for event in log.events if isinstance(event, Compacted)]
    departures, handles = _replayed(log.events)
    if as_json:
        forms = [
            {"event": made.id, "time": made.time, "undone": made.id in undone, "focus": made.focus}
            | msgspec.structs.asdict(made.receipt)
            | {"handles": handles[made.id], "left": departures[made.id]}
            for made in passes
        ]
        print_json(forms)
        return
    if not passes:
        echo(click.style("no passes", dim=True), err=True)
    for event in passes:
        named = _units(departures[event.id], None if every else _MAX_DEPARTURES_NAMED)
        echo("\n".join([*_receipt(event, len(handles[event.id]), undone=event.id in undone), *named]))


def _replayed(events: Iterable[Event]) -> tuple[dict[int, list[UnitDeparture]], dict[int, list[int]]]:
    """Replay the log to find what left in each pass, and the pages whose handles stood in the view after it."""
    engine = engine_of(())
    left: dict[int, list[UnitDeparture]] = {}
    handles: dict[int, list[int]] = {}

    def watched() -> Iterator[Event]:
        for event in events:
            if isinstance(event, Compacted):
                left[event.id] = unit_departures(event, engine.projection, engine.history.units)
            yield event
            if isinstance(event, Compacted):
                handles[event.id] = sorted(shown_pages(engine.projection))

    engine.extend(watched())
    return left, handles


def _units(left: list[UnitDeparture], most: int | None) -> Iterator[str]:
    largest = sorted(left, key=lambda departure: departure.after - departure.before)[:most]
    for departure in sorted(largest, key=lambda unit: unit.unit):
        size = f"{departure.before:,} → {departure.after:,}" if departure.after else f"{departure.before:,}"
        handles = " ".join(departure.handles[:_MAX_DEPARTURES_NAMED]) + (
            " …" if len(departure.handles) > _MAX_DEPARTURES_NAMED else ""
        )
        what = one_line(departure.what, LINE_COLUMNS)
        yield f"  {departure.how} event {departure.unit}: {what} ({size} tokens)  {handles}"
    if len(left) > len(largest):
        yield click.style(f"  and {len(left) - len(largest)} more (--all)", dim=True)


def _receipt(made: Compacted, handles: int, *, undone: bool) -> Iterator[str]:
    receipt = made.receipt
    mark = click.style("  undone", fg="yellow") if undone else ""
    rungs = "+".join(receipt.rungs)
    head = click.style(f"event {made.id}", bold=True)
    size = f"{receipt.before:,} → {receipt.after:,} tokens"
    yield f"{head}  {moment(made.time)}  {rungs} ({receipt.reason})  {size}{mark}"
    kinds = dict.fromkeys([*receipt.kinds_before, *receipt.kinds_after])
    sizes = (f"{kind} {receipt.kinds_before.get(kind, 0):,} → {receipt.kinds_after.get(kind, 0):,}" for kind in kinds)
    yield click.style(f"  {', '.join(sizes)}", dim=True)
    facts = f"{receipt.units_shrunk} shrunk, {receipt.units_folded} folded, {receipt.lines_kept} lines kept, "
    facts += f"{handles} handles, {receipt.cache_cost:,} tokens written to the cache again, "
    facts += f"{receipt.seconds:.2f} s"
    yield click.style(f"  {facts}", dim=True)


@command()
@session_argument
@output_option
def export(store: LogStore, session: str, output: Path | None, as_json: bool) -> None:
    """Write a whole session as JSON lines: the past before a fork and all large results included.

    --json changes nothing: the export is JSON lines already. `outlive replay` reads it.

    \b
    Examples:
      outlive session export SESSION -o session.jsonl
      outlive session export SESSION | gzip > session.jsonl.gz
    """
    log = full_log(store, session)
    say_damage(log.damage)
    write_lines(map(encode, log.events), output)
