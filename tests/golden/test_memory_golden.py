"""Memories written by older versions are read as exactly the same for ever."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from outlive.memory.memories import Memories
from outlive.stores.memories.records import Memory, Provenance
from outlive.stores.memories.text import parse, render

HERE = Path(__file__).parent / "memory-v1"
WRITTEN = datetime.fromtimestamp(1_767_000_000, UTC)


def day(number: int, month: int = 1) -> datetime:
    return datetime(2026, month, number, tzinfo=UTC)


USE_TABS = Memory(
    slug="use-tabs",
    name="Use tabs",
    description="Makefiles need tabs: always",
    type="feedback",
    keys=("make", "editor.indent"),
    date="7 May, 2023",
    provenance=Provenance(who="tool", session="s-1", event=12, confirmed=True),
    created=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    updated=day(3),
    supersedes=("old-rule",),
    derived_from=("build",),
    revision=7,
    body='# Tabs\n\n---\nIn Makefiles: "always".',
    extra={"mine": "kept \u2028 as it is"},
)
OLD_RULE = Memory(
    slug="old-rule",
    name="Old: rule",
    description="Use spaces",
    type="feedback",
    body="Use spaces.",
    created=day(1),
    updated=day(1),
)
ROLE = Memory(
    slug="user_role",
    name="User role",
    description="What the user does",
    type="user",
    body="The user maintains the parser.",
    created=WRITTEN,
    updated=WRITTEN,
)
GONE = Memory(
    slug="gone",
    name="Gone",
    description="was forgotten",
    body="Nobody needs this.",
    created=day(1),
    updated=day(1),
    archived=day(1, 2),
    revision=2,
)


def test_memories_v1_are_read_as_they_were(tmp_path: Path) -> None:
    shutil.copytree(HERE, tmp_path / ".memory")
    os.utime(tmp_path / ".memory" / "user_role.md", (1_767_000_000, 1_767_000_000))
    memories = Memories.open(base=tmp_path, home=tmp_path / "home")
    memories.adopt()
    assert memories.all(superseded=True, archived=True) == [GONE, OLD_RULE, USE_TABS, ROLE]
    assert memories.all() == [USE_TABS, ROLE]


def test_the_log_v1_is_read_and_can_be_gone_on_with(tmp_path: Path) -> None:
    shutil.copytree(HERE, tmp_path / ".memory")
    memories = Memories.open(base=tmp_path, home=tmp_path / "home")
    found = memories.log()
    assert [(entry.step.op, entry.step.actor, entry.undone) for entry in found] == [
        ("add", "ann", False),
        ("supersede", "ann", False),
        ("forget", "ann", True),
        ("undo", "ann", False),
    ]
    after = found[1].step.changes[0].after
    assert after is not None
    assert (after.body, after.supersedes) == ("The port is 443", ("port",))
    memories.add("next", "goes on counting")
    assert memories.log()[-1].id == "5"


def test_what_we_write_today_is_what_we_wrote_then() -> None:
    for name in ("use-tabs", "old-rule", "archive/gone"):
        raw = (HERE / f"{name}.md").read_bytes()
        now = b"".join(line for line in raw.splitlines(keepends=True) if not line.startswith(b"last_used: "))
        assert render(parse(raw, slug=Path(name).name, where=name)) == now, (
            "a key of older versions is not written again"
        )
