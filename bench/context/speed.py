"""How long a turn takes, besides disk: at the beginning of a long session, at its end, and in its longest pass."""

from statistics import mean, median
from time import process_time

from outlive.context.engine import Engine
from outlive.context.policy import RICH
from outlive.events import AssistantSaid, Event, ToolFinished, UserSaid
from outlive.messages import Text, ToolCall


def turn_events(number: int, first: int) -> list[Event]:
    """One step of a made-up session: a call and 40 lines of result."""
    call = ToolCall(f"c{number}", "Read", {"file_path": f"src/package_{number % 97}/module_{number}.py"})
    lines = (f"{n:5d}\tdef handler_{number}_{n}(request): return module_{number % 50}.value_{n}" for n in range(40))
    return [
        AssistantSaid(id=first, time=float(number), blocks=(Text(f"Step {number}."), call)),
        ToolFinished(id=first + 1, time=float(number), call_id=call.id, text="\n".join(lines)),
    ]


def measure(turns: int = 2_000, window: int = 200_000) -> dict[str, float]:
    """Milliseconds of processor time a turn (append, plan, render)."""
    engine = Engine(window, RICH)
    engine.append(UserSaid(id=1, time=0.0, blocks=(Text("Read everything."),)))
    taken: list[float] = []
    for number in range(turns):
        events = turn_events(number, engine.past.last_id + 1)
        began = process_time()
        engine.extend(events)
        engine.next_request()
        taken.append(1000 * (process_time() - began))
    return {
        "median of turns 100-300": median(taken[100:300]),
        "median of the last 200 turns": median(taken[-200:]),
        "ratio": median(taken[-200:]) / median(taken[100:300]),
        "mean": mean(taken),
        "slowest (a pass)": max(taken),
    }
