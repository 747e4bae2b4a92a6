"""Sessions for tests of the page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from outlive.agent import Session
from outlive.events import AssistantSaid, Event, PlanChanged, SessionStarted, ToolFinished, UsageReported, UserSaid
from outlive.messages import Message, Text, ToolCall
from outlive.stores.logs.files import FileLogStore
from tests.context.story import body
from tests.talk import Ticks
from tests.web.server import WebServer

WINDOW = 24_000


def store_in(folder: Path) -> FileLogStore:
    return FileLogStore(folder, durability="process")


def started(folder: Path, id: str = "talk") -> Session:
    about: dict[str, Any] = {"system": "You help with code.", "model": "claude-sonnet-5-5"}
    return Session.start(store_in(folder), id=id, window=WINDOW, clock=Ticks(), **about)


def answer(session: Session, number: int, *, lines: int = 120) -> tuple[Message, ...]:
    """One request, its answer with one call, and the result; the messages that were sent."""
    if number % 10 == 0:
        session.user_said(f"Please go through part {number // 10}. Never touch generated_{number}.py.")
    if number % 2:
        session.log(PlanChanged, progress=f"part {number} is next")  # so that a state block is shown
    request = session.next_request()
    name = f"src/module_{number}.py"
    call = ToolCall(f"call_{number}", "read_file", {"path": name})
    usage = {"input": 10, "cache_read": request.tokens, "cache_write": 90, "output": 40, "cost": 0.01}
    session.assistant_said((Text(f"I look at {name}."), call), usage=usage)
    session.tool_finished(call.id, body(number, lines))
    return request.messages


def talked(folder: Path, steps: int = 24, id: str = "talk") -> list[Event]:
    """A session with several passes; its events."""
    with started(folder, id) as session:
        for number in range(steps):
            answer(session, number)
    return list(store_in(folder).read(id).events)


def long_log(count: int) -> list[Event]:
    """So many events, without the work of a session."""
    events: list[Event] = [SessionStarted(id=1, time=1.0, session="long", system="You help.", model="m")]
    while len(events) < count:
        last, number = len(events), len(events)
        call = ToolCall(f"call_{number}", "bash", {"command": f"make part_{number}"})
        turn: list[Event] = [
            UserSaid(id=last + 1, time=float(last), blocks=(Text(f"Go on with part {number}.", "user"),)),
            AssistantSaid(id=last + 2, time=float(last), blocks=(Text("I do."), call)),
            UsageReported(id=last + 3, time=float(last), of=last + 2, input=100 + number, cost=0.001),
            ToolFinished(id=last + 4, time=float(last), call_id=call.id, text=f"made part_{number}\n" * 5),
        ]
        events += turn
    return events[:count]


def of(server: WebServer, session: str, path: str) -> str:
    return f"/api/w/{server.workspace}/sessions/{session}{path}"


class Streamed(msgspec.Struct):
    """A server-sent event."""

    id: str
    event: str
    data: str


def streamed(response: httpx2.Response) -> Iterator[Streamed]:
    """The events of a stream, as they come."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if not line:
            if "event" in fields:
                yield Streamed(fields.get("id", ""), fields["event"], fields.get("data", ""))
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
