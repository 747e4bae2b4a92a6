import pytest

from outlive.tasks.drawing.marks import MARKS, STATES, State, mark, state, words
from tests.tasks.drawing.plans import plan


@pytest.mark.parametrize(
    ("line", "expected", "sign"),
    [
        ("2 waits for nothing", "ready", "○"),
        ("2 waits for a finished task < 9", "ready", "○"),
        ("2 waits for an open task < 1", "blocked", "◌"),
        ("◐ 2 begun", "in_progress", "◐"),
        ("✓ 2 done", "completed", "✓"),
        ("✗ 2 dropped", "cancelled", "✗"),
        ("✓ 2 done by force < 1", "completed", "✓"),
    ],
)
def test_every_task_has_one_state_and_one_mark(line: str, expected: State, sign: str) -> None:
    task = plan("1 open", line, "✓ 9 finished")[1]
    assert state(task) == expected
    assert mark(task) == sign


def test_no_two_states_share_a_mark() -> None:
    assert set(MARKS) == set(STATES)
    assert len(set(MARKS.values())) == len(STATES)


def test_a_state_reads_as_words() -> None:
    assert words("in_progress") == "in progress"
