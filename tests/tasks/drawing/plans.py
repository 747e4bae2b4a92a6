"""Plans for the drawing tests, written as the pictures write them."""

import re
from datetime import UTC, datetime

from hypothesis import strategies as st

from outlive.stores.tasks.records import STATUSES, Status, Task

_WHEN = datetime(2025, 1, 1, tzinfo=UTC)
_LINE = re.compile(r"(?P<mark>[✓◐✗] )?(?P<id>\d+) (?P<subject>.*?)(?: < (?P<needs>[\d ]+))?", re.DOTALL)
_STATUS: dict[str | None, Status] = {"✓ ": "completed", "◐ ": "in_progress", "✗ ": "cancelled", None: "pending"}


def plan(*lines: str) -> list[Task]:
    """Tasks from lines such as `✓ 3 Write the parser < 1 2`: status, id, subject, what it depends on."""
    rows = []
    for line in lines:
        found = _LINE.fullmatch(line)
        assert found, line
        needs = tuple(map(int, (found["needs"] or "").split()))
        rows.append((int(found["id"]), found["subject"], _STATUS[found["mark"]], needs))
    return tasks_of(rows)


def tasks_of(rows: list[tuple[int, str, Status, tuple[int, ...]]]) -> list[Task]:
    """Tasks as a store hands them out: `blocked_by` holds the dependencies that are not finished."""
    finished = {number for number, _, status, _ in rows if status in ("completed", "cancelled")}
    return [
        Task(
            id=number,
            subject=subject,
            status=status,
            depends_on=needs,
            blocked_by=tuple(other for other in needs if other not in finished),
            created_at=_WHEN,
            updated_at=_WHEN,
        )
        for number, subject, status, needs in rows
    ]


def unstyled(text: str, task: Task) -> str:
    return text


RELEASE = plan(
    "✓ 1 Agree on the format",
    "◐ 2 Write the parser < 1",
    "3 Write the printer < 1",
    "4 Test the round trip < 2 3",
    "5 Release < 4",
)

# A hand-picked alphabet: ASCII whole, and from the rest what is wide, glued, invisible, turning or half a character.
_RARE = "äßÉ–…→✓漢字かﾊ한🎉👩👨☎❤\u0301\u200b\u200d\ufe0f\u202e\u2066\u2028\u0085\u00a0\ufeff\uffff\ud83d\udc00"
characters = st.sampled_from([*map(chr, range(128)), *_RARE])
subjects = st.text(characters, max_size=60) | st.sampled_from(
    [
        "end",
        'say "hi"',
        "a [b] {c} (d) <e> |f|",
        "`md` **b** _i_",
        "#quot; &amp; \\N \\",
        "a\nb\r\n%%{x}%%",
        "漢字 👩‍👩‍👧 ☎️",
    ]
)


@st.composite
def graphs(
    draw: st.DrawFn, *, cycles: bool = True, size: int = 14, subject: st.SearchStrategy[str] = subjects
) -> list[Task]:
    """Any tasks, with edges to tasks that are not there and, if wanted, with cycles."""
    ids = sorted(draw(st.sets(st.integers(1, 40), max_size=size)))
    rows = []
    for place, number in enumerate(ids):
        others = st.integers(1, 40) if cycles else st.sampled_from(ids[:place] or [0])
        needs = draw(st.sets(others, max_size=4)) - {0}
        status = draw(st.sampled_from(STATUSES))
        rows.append((number, draw(subject), status, tuple(sorted(needs))))
    return tasks_of(rows)


def edges_of(tasks: list[Task]) -> set[tuple[int, int]]:
    """Dependency and task that waits for it, both shown."""
    ids = {task.id for task in tasks}
    return {(other, task.id) for task in tasks for other in task.depends_on if other in ids and other != task.id}
