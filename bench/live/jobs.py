"""Five short jobs for a weak model. Each is a session of one or more prompts in a small project."""

from dataclasses import dataclass
from pathlib import Path

FILES = {
    "shop.py": "def total(prices):\n    return sum(prices) / len(prices)\n",
    "check.py": "from shop import total\n\nassert total([2, 3]) == 5, total([2, 3])\nprint('passed')\n",
    "notes/release.txt": "The release is on Thursday. Ada signs it.\n",
}
LONG, LINES = 7, 90
"""Files that the long job is shown one after the other, and their lines: together more than the window."""

SHOWN = tuple(f"Answer in one short sentence: what is in @parts/part_{number}.py?" for number in range(LONG))


@dataclass(frozen=True)
class Job:
    """What is asked."""

    name: str
    prompts: tuple[str, ...]
    tools: bool = True
    """Whether at least one tool has to run; the others are answered from what is attached."""
    passes: bool = False
    """Whether it is longer than the window, so that at least one pass has to be made."""


JOBS = (
    Job("read", ("Read the file notes/release.txt with read_file and say who signs the release.",)),
    Job("run", ("Run the command `python3 check.py` with bash and say what it printed.",)),
    Job("fix", ("Read shop.py. total must return the sum of the prices: edit the file. Then run python3 check.py.",)),
    Job("plan", ("Create two tasks with task_create: 'Fix total', and 'Write the manual'. Then say done.",)),
    Job("long", (*SHOWN, "Answer in one short sentence: which files did I show you?"), tools=False, passes=True),
)


def lay_out(folder: Path) -> None:
    """Write the project of the jobs."""
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "parts").mkdir()
    for number in range(LONG):
        lines = [
            f"def rule_{number}_{line}(order): return order.items > {line * 7 + number}\n" for line in range(LINES)
        ]
        (folder / "parts" / f"part_{number}.py").write_text("".join(lines))
