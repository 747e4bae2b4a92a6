"""Recorded sessions through the engine: never invalid, never over the window, never a loop. Needs the data."""

from pathlib import Path

import pytest
from bench.context.ours import Ours
from bench.context.sessions import load, manifest

from outlive.context.policy import RICH
from outlive.context.validity import problems
from tests.context.wire import anthropic, openai
from tests.sample import part

RECORDINGS = manifest()
WINDOWS = (30_000, 50_000, 100_000, 200_000)

pytestmark = pytest.mark.skipif(
    not RECORDINGS, reason="NO RECORDED SESSIONS: ../shared/data/trajectories is not there"
)


@pytest.mark.parametrize("number", part(range(len(RECORDINGS))), ids=lambda number: RECORDINGS[number][0].name[:24])
def test_a_recorded_session_stays_valid_and_within_its_window(number: int) -> None:
    path: Path = RECORDINGS[number][0]
    session = load(path)
    window = WINDOWS[number % len(WINDOWS)]
    runner = Ours(session, window, RICH)
    passes = 0
    for turn, message in enumerate(session.messages):
        if message["role"] != "assistant" or not turn:
            continue
        answer = runner.answer(turn)
        passes += answer.passed
        assert not problems(answer.messages)
        if answer.passed:
            anthropic(answer.messages)
            openai(answer.messages)
        assert runner.last_tokens <= window
    assert passes <= len(session.messages) / 4
