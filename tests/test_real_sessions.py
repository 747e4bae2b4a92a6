"""A few of the recorded sessions, where they are at hand: nothing invalid, nothing too large, everything in reach."""

import re
from pathlib import Path

import pytest

from outlive.agent.recall import pages_of
from outlive.context.policy import RICH
from outlive.context.validity import problems
from outlive.messages import ToolResult
from outlive.replay.importers import read_recording
from outlive.replay.player import Replay
from outlive.stores.logs.files import FileLogStore
from tests.engines import ROOT

DATA = ROOT / ".." / "shared" / "data" / "trajectories"
FEW = (
    "OpenHands__OpenHands__ponylang",
    "entireio__cli__53ea1606",
    "jdx__mise__019f23cb",
    "marot__spotter__ae4a77f8",
    "sierra-research__tau-bench__airline-2-1",
)
CHARS = 3.2


@pytest.mark.parametrize("window", [30_000, 100_000])
@pytest.mark.parametrize("name", FEW)
def test_a_recorded_session_survives(name: str, window: int, tmp_path: Path) -> None:
    path = DATA / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"NO RECORDINGS: {path} is not here; see the data's own README for where to put it")
    recording = read_recording(path)
    played = Replay(recording, window=window, policy=RICH)
    text = ""
    turns = []
    for step in played.steps():
        turns.append(step.turn)
        assert step.request is not None, step.refused
        assert problems(step.request.messages) == []
        texts = [getattr(block, "text", "") for m in step.request.messages for block in m.blocks]
        inputs = [str(getattr(block, "input", "")) for m in step.request.messages for block in m.blocks]
        assert sum(map(len, [step.request.system, *texts, *inputs])) / CHARS <= window
        text = "\n".join(texts)
    assert turns == recording.turns
    store = FileLogStore(tmp_path, durability="process")
    played.save(store)
    pages = pages_of(store.read(recording.id).events)
    reachable = text + "".join(pages.get(int(n)).text for n in sorted(set(re.findall(r"@h(\d+)", text)), key=int))
    results = [b.text for r in recording.messages[: turns[-1]] for b in r.message.blocks if isinstance(b, ToolResult)]
    assert [result[:60] for result in results if result not in reachable] == []
