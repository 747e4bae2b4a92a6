"""What the tests of the adapters share: a model that reads pages until they no longer fit, and a simulator for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.testing import Simulator, call, calls, say, think
from outlive.testing.simulator import SeenRequest, Step
from tests.cli.command import Outlive

WINDOW = 30_000
RULE = "Never delete a file."
WORDS = f"Read all the pages, one after the other. {RULE}"
PAGES = 14


def page(number: int) -> str:
    """A page that takes about a fifth of the window."""
    return "\n".join(f"line {line} of page {number}: value_{number}_{line}" for line in range(400))


def reader(request: SeenRequest) -> Step:
    """Reads a page or two with each answer. Knows how far it is by the newest page that the request names."""
    seen = [number for number in range(1, 2 * PAGES) if f"value_{number}_399" in request.text]
    last = max(seen, default=0)
    if "Stop now." in request.text or last >= PAGES:
        return say("That was all.")
    first = call("read", number=last + 1)
    return think("More.") + (calls(first, call("read", number=last + 2)) if last % 3 == 0 else first)


@pytest.fixture
def sim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    monkeypatch.chdir(tmp_path)
    with Simulator(brain=reader, window=WINDOW) as running:
        for name, value in running.env().items():
            monkeypatch.setenv(name, value)
        yield running


def fits(sim: Simulator, session: str) -> None:
    """Every request was accepted and has the user's words in it; what left is known to the command line."""
    assert sim.refusals == []
    assert len(sim.requests) > PAGES // 2
    assert all(WORDS in request.text for request in sim.requests)
    assert "value_1_200" not in sim.requests[-1].text
    outlive = Outlive(Path.cwd())
    assert WORDS[:40] in outlive("session", "list").out
    handle = outlive("recall", "--search", "value_1_200", "--session", session, "--json").json[0]["handle"]
    found = outlive("recall", handle, "--session", session).out
    assert "value_1_200" in found
    assert found in page(1)
