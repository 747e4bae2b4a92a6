"""Commands of recorded sessions, where the recordings are at hand."""

import gzip
import json
from functools import cache

import pytest

from outlive.context.ledger.shell import command_of
from outlive.messages import ToolCall
from tests.engines import ROOT

DATA = ROOT / ".." / "shared" / "data" / "trajectories"


@cache
def _found() -> tuple[str, ...]:
    found: dict[str, None] = {}
    for path in sorted(DATA.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            messages = json.load(file)["messages"]
        blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
        calls = [ToolCall(b["id"], b["name"], b["input"]) for b in blocks if b.get("type") == "tool_use"]
        found |= dict.fromkeys(filter(None, map(command_of, calls)))
    return tuple(found)


def recorded_commands() -> tuple[str, ...]:
    """Every different command, in order; skips the test where there are none."""
    if not (found := _found()):
        pytest.skip(f"NO RECORDINGS: {DATA} is not here; see the data's own README for where to put it")
    return found
