"""Processes that change memories, to be killed or to run at once.

python -m tests.memory_worker add|consolidate URL HOME NAME   until it is killed; says what was acknowledged
python -m tests.memory_worker some URL HOME NAME              ten memories, once a line came in
python -m tests.memory_worker points CHANGE TEMPLATE TARGET   dies at every step in turn (tests.crash_points)
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from outlive.memory.consolidate import consolidate
from outlive.memory.memories import Memories
from outlive.memory.transfer import Imported, import_memories, read_lines
from tests.crash_points import die_at

LINES = b'{"name": "i one", "body": "first of the import"}\n{"name": "i two", "body": "second of the import"}\n'

OPERATIONS = {
    "keep": ["derived"],
    "merge": [{"ids": ["same-too", "alone"]}],
    "supersede": [{"old": "base", "new": "derived"}],
    "retire": [{"id": "dated", "reason": "it is over"}],
}


def take_in(memories: Memories) -> None:
    result = Imported()
    import_memories(memories, read_lines(LINES, "lines", result), result)


CHANGES: dict[str, Callable[[Memories], object]] = {
    "add": lambda memories: memories.add("new", "something new to know"),
    "update": lambda memories: memories.update("alone", body="said better now"),
    "supersede": lambda memories: memories.supersede("alone", "said quite differently now"),
    "forget": lambda memories: memories.forget("base"),
    "undo": lambda memories: memories.undo(),
    "consolidate": lambda memories: consolidate(memories),
    "operations": lambda memories: consolidate(memories, lambda _: json.dumps(OPERATIONS)),
    "import": take_in,
}


def template(memories: Memories) -> None:
    """Two with the same text, one with a date, one derived from another, one alone, one forgotten."""
    memories.add("same", "The build needs Python 3.11.")
    memories.add("same too", "The build needs Python 3.11", description="said again")
    memories.add("dated", "The freeze began yesterday evening.", date="2026-03-02")
    memories.add("base", "Deploys go through staging.")
    memories.add("derived", "So ask before deploying on Fridays.", derived_from=["base"])
    memories.add("alone", "The parser lives in src.")
    memories.add("gone", "Nobody needs this any more.")
    memories.forget("gone")


def open_at(folder: Path) -> Memories:
    return Memories.open(f"files:{folder / '.tasks'}", home=folder / "home")


def points(change: str, source: str, target: str) -> None:
    for step in range(1, 200):
        folder = Path(target) / str(step)
        shutil.copytree(source, folder)
        pid = os.fork()
        if pid == 0:
            try:
                memories = open_at(folder)
                die_at(step)
                CHANGES[change](memories)
                os._exit(0)
            finally:
                os._exit(3)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code in (0, 9), code
        if code == 0:
            print(step)
            return


def main(job: str, *arguments: str) -> None:
    if job == "points":
        import filelock

        assert filelock
        points(*arguments)
        return
    url, home, name = arguments
    memories = Memories.open(url, home=Path(home), actor=name)
    if job == "some":
        say("ready")
        sys.stdin.readline()
        for number in range(10):
            say(memories.add(f"Note {number} of {name}", f"what {name} knows about {number} and nobody else").slug)
        return
    number = 0
    while True:
        number += 1
        if job == "add":
            say(memories.add(f"Note {number} of {name}", f"what {name} knows about {number} and nobody else").slug)
        else:
            say(str(len(consolidate(memories).notes)))
            memories.undo()


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
