"""A model for the simulator that does a long piece of work, deciding from each request alone.

It survives any death of its client: what was done it reads from the results, and where a result is missing it looks.
Each round appends one line to a file, so a command that ran twice or never shows in the file.
"""

import re
from collections.abc import Callable

from outlive.testing import call, say
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
LOOK = "tail -n 1 rounds.txt 2>/dev/null || echo none"


def worker(rounds: int) -> Callable[[SeenRequest], Step]:
    """Rounds of two or three calls each: one that leaves a trace, and some that look at things."""

    def answer(request: SeenRequest) -> Step:
        results = [result for result in request.last_results() if result.name == "bash"]
        if not results:
            return call("bash", command=LOOK)
        text = results[0].text
        if text.startswith("["):  # interrupted or not run
            return call("bash", command=LOOK)
        found = _ROUND.search(text)
        number = int(found[1]) if found else 0
        return say(DONE) if number >= rounds else round_of(number + 1)

    return answer


def round_of(number: int) -> Step:
    trace = f"echo 'round {number}' | tee -a rounds.txt; seq -f 'value %g of round {number}' 1 {60 + number % 5 * 60}"
    step = call("bash", command=trace)
    if number == 1:
        for name in ("parser", "index", "docs"):
            step += call("task_create", subject=f"Write the {name}")
        return step + call("update_plan", steps=["look around", "do the rounds", "report"], goal="All rounds done")
    if number == 10:
        step += call("task_complete", task_id=1)
    if number % 7 == 0:
        step += call("write_file", path=f"out/part_{number}.txt", content=f"part {number}\n" * 30)
    step += call("read_file", path="data.txt", offset=number * 3, limit=60)
    return step + call("grep", pattern=f"name_{number}\\b")
