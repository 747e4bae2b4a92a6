"""Recorded sessions as events, and the requests a policy answers with as plain text."""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from outlive.events import AssistantSaid, Event, ToolFinished, UserSaid
from outlive.messages import Block, Message, Opaque, Text, ToolCall, ToolResult

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "trajectories"


@dataclass(slots=True)
class Session:
    """One recording: for each message its events, its text and its time."""

    id: str
    source: str
    system: str
    messages: list[dict[str, Any]]
    times: list[float]
    events: list[list[Event]]
    texts: list[str]


def load(path: Path) -> Session:
    """Read one recording."""
    raw = json.loads(gzip.decompress(path.read_bytes()))
    messages = [_normal(message) for message in raw["messages"]]
    times = _times(raw.get("timestamps") or [], len(messages))
    return make_session(raw["id"], raw["source"], raw.get("system") or "", messages, times)


def make_session(id: str, source: str, system: str, messages: list[dict[str, Any]], times: list[float]) -> Session:
    """A session of these messages."""
    session = Session(id, source, system, messages, times, [], [])
    counter = iter(range(1, 1 << 40))
    for message, time in zip(messages, times, strict=True):
        session.events.append(list(_events(message, time, counter)))
        session.texts.append("\n".join(map(wire_text, message["content"])))
    return session


def _normal(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    return {
        "role": message["role"],
        "content": [{"type": "text", "text": content}] if isinstance(content, str) else content,
    }


def _times(stamps: list[str | None], count: int) -> list[float]:
    """Seconds, never going back; eight seconds a message where nothing was recorded."""
    times: list[float] = []
    for number in range(count):
        before = times[-1] if times else 0.0
        stamp = stamps[number] if number < len(stamps) else None
        if stamp is None:
            times.append(before + 4.0)
            continue
        moment = datetime.fromisoformat(stamp.replace("Z", "+00:00"))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        times.append(max(before, moment.timestamp()))
    return times


def _events(message: dict[str, Any], time: float, ids: Iterator[int]) -> Iterator[Event]:
    if message["role"] == "assistant":
        yield AssistantSaid(id=next(ids), time=time, blocks=tuple(map(_block, message["content"])))
        return
    said: list[Block] = []
    for block in message["content"]:
        if block["type"] == "tool_result":
            yield ToolFinished(
                id=next(ids),
                time=time,
                call_id=block["tool_use_id"],
                text=block["content"],
                is_error=bool(block.get("is_error")),
            )
        else:
            said.append(_block(block))
    if said:
        yield UserSaid(id=next(ids), time=time, blocks=tuple(said))


def _block(block: dict[str, Any]) -> Block:
    if block["type"] == "text":
        return Text(block["text"])
    if block["type"] == "tool_use":
        return ToolCall(block["id"], block["name"], block["input"])
    return Opaque("anthropic", block)


def wire_text(block: dict[str, Any]) -> str:
    """A recorded block as the text that is searched and counted."""
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] == "tool_use":
        return input_text(block["name"], block["input"])
    if block["type"] == "tool_result":
        return str(block["content"])
    return ""


def input_text(name: str, values: dict[str, Any]) -> str:
    """A call: each value on lines of its own, so that no identifier runs into an escape."""
    rows = (v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values.values())
    return "\n".join([name, *rows])


def block_text(block: Block) -> str:
    """The same for a block of a view."""
    if isinstance(block, (Text, ToolResult)):
        return block.text
    if isinstance(block, ToolCall):
        return input_text(block.name, block.input)
    if isinstance(block, Opaque) and block.is_summary:
        return str(block.data["content"])
    return ""


def message_text(message: Message) -> str:
    return "\n".join(map(block_text, message.blocks))


def manifest(folder: Path = DATA, smallest: int = 0) -> list[tuple[Path, str]]:
    """The recordings of at least `smallest` characters and their sources, small ones first; none without data."""
    index = folder / "manifest.csv"
    if not index.is_file():
        return []
    with index.open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["chars"]))
    return [(folder / row["file"], row["source"]) for row in rows if int(row["chars"]) >= smallest]
