"""How long a turn takes, besides disk: at the beginning of a long session, at its end, and in its longest pass."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, cycle, islice
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import Any

from msgspec.structs import replace

from bench.context.sessions import load
from outlive.context.engine import Engine
from outlive.context.policy import RICH
from outlive.events import AssistantSaid, Event, ToolFinished, UserSaid
from outlive.messages import Text, ToolCall

HEAD = (
    "| session | turns | first 200 | last 200 | ratio | mean | median pass | longest | of it collection of garbage |"
)
RULE = "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
NEWEST = 1_000
"""Turns whose passes are told: what a pass costs after so many turns."""


def turn_events(number: int, first: int) -> list[Event]:
    """One step of a made-up session: a call and 40 lines of result."""
    call = ToolCall(f"c{number}", "Read", {"file_path": f"src/package_{number % 97}/module_{number}.py"})
    lines = (f"{n:5d}\tdef handler_{number}_{n}(request): return module_{number % 50}.value_{n}" for n in range(40))
    return [
        AssistantSaid(id=first, time=float(number), blocks=(Text(f"Step {number}."), call)),
        ToolFinished(id=first + 1, time=float(number), call_id=call.id, text="\n".join(lines)),
    ]


def made_up() -> Iterator[list[Event]]:
    """A session without end: one request, and step after step."""
    yield [UserSaid(id=1, time=0.0, blocks=(Text("Read everything."),)), *turn_events(0, 2)]
    for number in count(1):
        yield turn_events(number, 2 * number + 2)


def recorded(paths: Iterable[Path]) -> Iterator[list[Event]]:
    """Recordings one after the other, from the beginning again when they are over, as one session."""
    turn: list[Event] = []
    for round, path in enumerate(cycle(paths)):
        for event in (event for message in load(path).events for event in message):
            if isinstance(event, AssistantSaid) and turn:
                yield turn
                turn = []
            turn.append(_of_round(event, round))


def _of_round(event: Event, round: int) -> Event:
    """A recording that comes again has calls of its own."""
    if isinstance(event, AssistantSaid):
        blocks = tuple(replace(b, id=f"{round}.{b.id}") if isinstance(b, ToolCall) else b for b in event.blocks)
        return replace(event, blocks=blocks)
    return replace(event, call_id=f"{round}.{event.call_id}") if isinstance(event, ToolFinished) else event


def measure(turns: Iterator[list[Event]], most: int, window: int = 100_000) -> dict[str, float]:
    """Milliseconds of processor time a turn (append, plan, render)."""
    engine = Engine(window, RICH)
    clock = Collections()
    taken: list[tuple[float, float]] = []
    passes: list[int] = []
    for number, events in enumerate(islice(turns, most)):
        began, before = process_time(), clock.spent
        for event in events:
            engine.append(replace(event, id=engine.history.last_id + 1, time=float(number)))
        if engine.next_request().passes:
            passes.append(number)
        taken.append((1000 * (process_time() - began), 1000 * (clock.spent - before)))
    clock.close()
    whole = [spent for spent, _ in taken]
    first, last = median(whole[100:300]), median(whole[-200:])
    longest, collecting = max(taken[-NEWEST:])
    return {
        "first 200": first,
        "last 200": last,
        "ratio": last / first,
        "mean": mean(whole),
        "median pass": median(whole[number] for number in passes if number >= most - NEWEST),
        "longest": longest,
        "collecting": collecting,
    }


class Collections:
    """Seconds that the collection of garbage took."""

    def __init__(self) -> None:
        self.spent = self._began = 0.0
        gc.callbacks.append(self._see)

    def _see(self, phase: str, _: dict[str, Any]) -> None:
        if phase == "start":
            self._began = process_time()
        else:
            self.spent += process_time() - self._began

    def close(self) -> None:
        gc.callbacks.remove(self._see)


def report(paths: Sequence[Path], lengths: Sequence[int]) -> None:
    """Print the table."""
    print(f"\n### Speed: milliseconds of processor time a turn, window 100,000\n\n{HEAD}\n{RULE}")
    for length in lengths:
        for name, turns in (("made up", made_up()), ("recorded, one after the other", recorded(paths))):
            values = " | ".join(f"{value:.2f}" for value in measure(turns, length).values())
            print(f"| {name} | {length:,} | {values} |", flush=True)
            gc.collect()
