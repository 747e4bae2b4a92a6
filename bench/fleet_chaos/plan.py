"""The tasks of a run, and what has to become of each."""

import stat
from pathlib import Path
from typing import NamedTuple

from outlive.stores.tasks.protocol import TaskQuery
from outlive.tasks.graph import TaskGraph

KINDS = ("plain",) * 7 + ("merge",) * 4 + ("split", "breed", "loop", "lie", "escape", "costly")
"""In this order, again and again."""
WAITING = frozenset({"loop", "lie"})
"""Kinds of agents that never finish: their tasks have to wait for a person."""
PARTS = 5
"""Tasks that agents may make out of one."""
EVERYTHING = TaskQuery(archived=True)
BUDGET = 0.05
"""Dollars for the label `costly`."""

LEDGER = """#!/bin/sh
echo "$2" >> "$OUTLIVE_LEDGER/$1"
sleep 0.3
"""
LOOK = """#!/bin/sh
cat "$OUTLIVE_LEDGER/$1" 2>/dev/null
true
"""
ADD = """#!/bin/sh
grep -qx "$1" shared/list.txt || echo "$1" >> shared/list.txt
"""
RESOLVE = """#!/bin/sh
sed -i '/^[<=>|]\\{7\\}/d' shared/list.txt
"""
HAS_FILE = """#!/bin/sh
test -f "$1"
"""
PROGRAMS = {"ledger": LEDGER, "ledger-look": LOOK, "add-line": ADD, "resolve": RESOLVE, "has-file": HAS_FILE}
"""What agents may run. `ledger` writes outside of every worktree, so that a command that ran twice is seen."""
CHECK = """#!/bin/sh
! grep -rq '^<<<<<<<' work shared && test -z "$(sort shared/list.txt | uniq -d)"
"""


class Planned(NamedTuple):
    name: str
    kind: str
    id: int


def install(folder: Path) -> Path:
    """Write the programs into a folder for PATH."""
    folder.mkdir()
    for name, text in PROGRAMS.items():
        path = folder / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def plan(graph: TaskGraph, count: int) -> list[Planned]:
    """Create the tasks. Some depend on the one before."""
    made: list[Planned] = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        name = f"t{number:03}"
        before = [made[-1].id] if number % 5 == 4 and made[-1].kind == "plain" else []
        labels = ["costly"] if kind == "costly" else []
        checks = {"checks": [f"has-file work/{name}.txt"]}
        task = graph.create(f"{name} {kind}", blocked_by=before, labels=labels, metadata=checks)
        made.append(Planned(name, kind, task.id))
    return made
