"""Plays the agents of all tasks. What was done it reads from the request; what was interrupted it looks at first."""

import re
import time
from collections.abc import Callable, Iterator

from outlive.testing import call, say
from outlive.testing.simulator.seen import SeenRequest, SeenResult
from outlive.testing.simulator.steps import Call, Step

MOVES = "moves"
PLAN = ("write the first file", "enter one and two", "write the second file")
_TASK = re.compile(r"Task #(\d+): (\S+) (\w+)")
_UNSURE = ("[interrupted", "[not run")


def agent(thinking: float) -> Callable[[SeenRequest], Step]:
    """A brain that takes so many seconds for each answer."""

    def brain(request: SeenRequest) -> Step:
        time.sleep(thinking)
        return answer(request)

    return brain


def answer(request: SeenRequest) -> Step:
    text = "\n".join(request.texts())
    found = _TASK.search(text)
    if found is None:
        return say("There is no task here.")
    number, name, kind = int(found[1]), found[2], found[3]
    failed = text.count("these checks fail")
    if kind == "lie":
        return say("All of it is done.")
    if kind == "loop":
        return call("read_file", path="shared/list.txt")
    for step in _steps(number, name, kind, text):
        (wanted,) = step.parts
        assert isinstance(wanted, Call)
        results = _results(request, wanted)
        done = [result for result in results if not result.text.startswith(_UNSURE)]
        needed = 1 + failed if wanted.name == "write_file" and wanted.input.get("path") == f"work/{name}.txt" else 1
        if len(done) >= needed:
            continue
        if results and not done and str(wanted.input.get("command", "")).startswith("ledger "):
            look = call("bash", command=f"ledger-look {name} {len(results)}")
            (looking,) = look.parts
            assert isinstance(looking, Call)
            seen = [result for result in _results(request, looking) if not result.text.startswith(_UNSURE)]
            if not seen:
                return look
            if str(wanted.input["command"]).split()[-1] in seen[-1].text.split():
                continue
        return step
    return say(f"{name} is done.")


def _steps(number: int, name: str, kind: str, text: str) -> Iterator[Step]:
    if kind == MOVES:
        yield call("update_plan", steps=list(PLAN))
        yield call("bash", command=f"ledger {name} zero")
        yield call("write_file", path=f"work/{name}-first.txt", content=f"{name}\n")
    yield call("write_file", path=f"work/{name}.txt", content=f"{name}\n")
    yield call("bash", command=f"ledger {name} one")
    if kind == "escape":
        yield call("write_file", path=f"../../../escaped-{name}.txt", content="outside\n")
    if kind in ("split", "breed"):
        for part in ("a", "b", "c", "d") if kind == "breed" else ("a", "b"):
            below = "breed" if kind == "breed" else "plain"
            yield call("task_create", subject=f"{name}{part} {below}", addBlocks=[number])
    if kind == "merge":
        yield call("bash", command=f"add-line {name}")
        for turn in range(text.count("have conflict markers")):
            yield call("bash", command=f"resolve {turn}")
    if kind == "costly":
        for page in range(12):
            yield call("bash", command=f"ledger-look {name} page-{page}")
    yield call("bash", command=f"ledger {name} two")


def _results(request: SeenRequest, wanted: Call) -> list[SeenResult]:
    same = {each.id for each in request.calls() if each.name == wanted.name and each.input == dict(wanted.input)}
    return [result for result in request.results() if result.id in same]
