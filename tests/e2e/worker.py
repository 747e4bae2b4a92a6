"""A model for the simulator that does a long piece of work, deciding from each request alone.

It survives any death of its client: what was done it reads from the results, and where a result is missing it looks.
Each round appends one line to a file, so a command that ran twice or never shows in the file.
"""

import re
from collections.abc import Callable
from functools import reduce
from operator import add

from outlive.testing import call, say, think
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step

RULES = (
    "Never touch anything under vendor/.",
    "Always write the number of the round before you do anything else.",
    "From now on keep answers under ten lines.",
)
PROMPT = f"Work through all the rounds of this job. {' '.join(RULES)}"
DONE = "All rounds are done."
_ROUND = re.compile(r"^round (\d+)$", re.MULTILINE)
SEEN = "seen:"
LOOK = (
    f"echo {SEEN}; tail -n 1 rounds.txt 2>/dev/null || echo none; ls out 2>/dev/null; cat .tasks/*.json 2>/dev/null"
)
NAMES = ("parser", "index", "docs")
GOAL = "All rounds done"
_STATE = re.compile(r"<state>\n.*?\n</state>", re.DOTALL)


def told(request: SeenRequest) -> str:
    """The state as a request tells it: its last whole block, and the changes that came after it."""
    blocks = _STATE.findall("\n".join(request.user_words()))
    whole = max((at for at, block in enumerate(blocks) if "Changed since" not in block), default=0)
    return "\n".join(blocks[whole:])


def worker(rounds: int) -> Callable[[SeenRequest], Step]:
    """Rounds of two or three calls each: one that leaves a trace, and some that look at things."""

    def answer(request: SeenRequest) -> Step:
        step = next_step(request)
        return think("I know what comes next. " * 5) + step if request.provider == "anthropic" else step

    def next_step(request: SeenRequest) -> Step:
        last = request.last_results()
        results = [result for result in last if result.name == "bash"]
        if not results or any(result.text.startswith(("[interrupted", "[not run")) for result in last):
            return call("bash", command=LOOK)
        text = results[0].text
        found = _ROUND.search(text)
        number = int(found[1]) if found else 0
        if text.startswith(SEEN) and (left := left_undone(number, text, told(request))):
            return left
        return say(DONE) if number >= rounds else round_of(number + 1)

    return answer


def left_undone(number: int, seen: str, state: str) -> Step | None:
    """What a death kept from being done after the trace of that round, by what is there."""
    steps = []
    if number == 1:
        steps += [create(name) for name in NAMES if f"Write the {name}" not in seen]
        steps += [plan()] if f"Goal: {GOAL}" not in state else []
    if number == 10 and '"completed"' not in seen:
        steps.append(complete())
    if number and number % 7 == 0 and f"part_{number}.txt" not in seen:
        steps.append(write(number))
    return reduce(add, steps) if steps else None


def create(name: str) -> Step:
    return call("task_create", subject=f"Write the {name}")


def plan() -> Step:
    return call("update_plan", steps=["look around", "do the rounds", "report"], goal=GOAL)


def complete() -> Step:
    return call("task_complete", task_id=1)


def write(number: int) -> Step:
    return call("write_file", path=f"out/part_{number}.txt", content=f"part {number}\n" * 30)


def round_of(number: int) -> Step:
    trace = f"echo 'round {number}' | tee -a rounds.txt; seq -f 'value %g of round {number}' 1 {60 + number % 5 * 60}"
    step = call("bash", command=trace)
    if number == 1:
        return reduce(add, (create(name) for name in NAMES), step) + plan()
    if number == 10:
        step += complete()
    if number % 7 == 0:
        step += write(number)
    step += call("read_file", path="data.txt", offset=number * 3, limit=60)
    return step + call("grep", pattern=f"name_{number}\\b")
