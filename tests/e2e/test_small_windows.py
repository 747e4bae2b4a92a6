"""Small windows: a long job of many requests fits into 8,000 and 16,000 tokens, and no request is refused."""

from pathlib import Path

import pytest

from outlive.testing import Simulator, call, say
from outlive.testing.simulator import SimulatedModel
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step
from tests.e2e.conftest import Client

TURNS = 40
TINY = SimulatedModel("tiny", "openai", 32_000)


@pytest.mark.parametrize("window", [8_192, 16_384])
def test_a_job_of_forty_turns_is_done_in_a_small_window(folder: Path, window: int) -> None:
    for number in range(TURNS):
        lines = (f"def handler_{number}_{line}(request): return {line}" for line in range(60))
        (folder / f"part_{number}.py").write_text("\n".join(lines))

    def work(request: SeenRequest) -> Step:
        if request.number <= TURNS:
            return call("read_file", path=f"part_{request.number - 1}.py")
        return say("All parts are read.")

    with Simulator(brain=work, models=[TINY], window=window, server="vllm") as sim:
        client = Client(folder, sim, "openai:tiny")
        result = client("-p", "Read every part. Never touch vendor/.", "--output-format", "json")
        assert result.json["text"] == "All parts are read."
        assert sim.refusals == []
        asked = [request for request in sim.requests if request.tools]  # another one looks for memories
        assert len(asked) == TURNS + 1
        for request in asked:
            assert "Read every part. Never touch vendor/." in request.text
            assert len(request.tools) == 7, "the lean profile"
