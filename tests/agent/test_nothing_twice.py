"""Nothing runs twice: a call is on disk as started before it runs, and a command before it does anything."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from outlive import Agent, Tool, ToolContext, ToolOutcome
from outlive.agent import Session
from outlive.agent.commands.orphans import orphans_of
from outlive.agent.commands.started import StartedCommands
from outlive.events import AssistantSaid, Forked, Process, ToolFinished, ToolStarted, decode
from outlive.messages import ToolCall
from outlive.stores import open_stores
from outlive.stores.machine import machine
from outlive.tasks.graph import TaskGraph
from outlive.testing import ScriptedModel, call, calls, say
from outlive.tools.processes.process_table import identify, living
from tests.context.wire import shown


class Nothing(Struct, forbid_unknown_fields=True):
    number: int = 0


class Witness(Tool[Nothing]):
    """Looks, while it runs, at what is on disk about its own call."""

    name = "witness"
    description = "Look."
    input = Nothing
    parallel = True

    def __init__(self, folder: Path, store: str) -> None:
        self.folder = folder
        self.store = store
        self.synced: dict[str, int] = {}
        self.seen: list[tuple[str, bool]] = []
        """Each call, and whether a machine that stops now would still know that it started."""

    async def run(self, given: Nothing, context: ToolContext) -> ToolOutcome:
        logs = open_stores(self.store, base=self.folder).logs
        events = logs.read(context.session.id).events
        logs.close()
        known = any(isinstance(event, ToolStarted) and context.call_id in event.calls for event in events)
        self.seen.append((context.call_id, known and self._is_durable(context)))
        await asyncio.sleep(0)
        return ToolOutcome("seen")

    def _is_durable(self, context: ToolContext) -> bool:
        """Whether the line was synced, and not only written. A database syncs by itself."""
        if not self.store.startswith("files:"):
            return True
        log = self.folder / ".transcripts" / f"{context.session.id}.jsonl"
        synced = log.read_bytes()[: self.synced.get(str(log), 0)]
        events = map(decode, synced.splitlines())
        return any(isinstance(event, ToolStarted) and context.call_id in event.calls for event in events)

    def sync(self, descriptor: int) -> None:
        real_fsync(descriptor)
        self.synced[os.readlink(f"/proc/self/fd/{descriptor}")] = os.fstat(descriptor).st_size


real_fsync = os.fsync


@pytest.mark.parametrize("store", ["files:.tasks", "sqlite:state.db"])
def test_every_call_is_durable_as_started_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    monkeypatch.setenv("OUTLIVE_STORE", store)
    witness = Witness(tmp_path.resolve(), store)
    monkeypatch.setattr(os, "fsync", witness.sync)
    together = calls(call("witness", number=1), call("witness", number=2))
    model = ScriptedModel([call("witness"), together, call("witness", number=3), say("done")])

    async def work() -> None:
        async with Agent(tmp_path, model=model, tools=[witness]) as agent:
            await agent.run("go")

    asyncio.run(work())
    model.verify()
    assert len(witness.seen) == 4
    assert [call for call, durable in witness.seen if not durable] == []


@pytest.fixture
def command() -> Iterator[Process]:
    """A command that runs, in a group of its own."""
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as running:
        yield identify(running.pid)
        running.kill()


def test_a_group_is_known_by_more_than_its_number(command: Process) -> None:
    here = command
    assert living(here)
    assert not living(Process(here.group, "1", here.machine)), "the number was used again"
    assert not living(Process(here.group, here.started, f"elsewhere {machine()}")), "a log from another machine"
    assert not living(Process(here.group, here.started, "")), "a log that does not say which machine"


def started(*events: Any) -> StartedCommands:
    found = StartedCommands()
    for event in events:
        found.take(event)
    return found


def test_only_the_session_that_started_a_command_looks_for_it(tmp_path: Path, command: Process) -> None:
    said = AssistantSaid(id=1, time=1.0, blocks=(ToolCall("c", "bash", {"command": "serve"}),))
    began = ToolStarted(id=2, time=2.0, calls=("c",), process=command)
    forked = Forked(id=3, time=3.0, session="s", at=2)
    logs = open_stores(base=tmp_path).logs
    assert [orphan.text for orphan in orphans_of("s", started(said, began), logs)] == ["bash serve"]
    assert orphans_of("t", started(said, began, forked), logs) == []


def test_a_log_of_before_has_no_processes_and_is_read_as_ever(tmp_path: Path) -> None:
    line = b'{"type":"tool_started","id":2,"time":2.0,"parent":1,"calls":["c"]}'
    found = started(decode(line))
    assert found.unanswered == {"c"}
    assert orphans_of("s", found, open_stores(base=tmp_path).logs) == []
    assert found.runs("123") is None
    assert started(decode(line), ToolFinished(id=3, time=3.0, call_id="c", text="ok")).unanswered == set()


def test_a_task_of_a_call_that_died_before_it_was_noted_is_known_after_the_resume(tmp_path: Path) -> None:
    with Agent(tmp_path, model=ScriptedModel([say("Ready.")]), mode="bypass") as agent:
        session = agent.run_sync("Hello.").session
    stores = open_stores("files:.tasks", base=tmp_path)
    with Session.resume(stores.logs, session) as died:
        died.assistant_said((ToolCall("c1", "task_create", {"subject": "Write the index"}),))
        died.log(ToolStarted, calls=("c1",))
    TaskGraph(stores.tasks).create("Write the index", metadata={"session": session})
    model = ScriptedModel([say("On it."), say("Nothing is left.")])
    with Agent(tmp_path, model=model, mode="bypass", resume=session) as agent:
        agent.run_sync("Go on.")
        assert "#1 Write the index [pending]" in shown(model.requests[-1].messages)
        agent.tasks.complete(1)
        agent.run_sync("And now?")
        news = shown(model.requests[-1].messages[-1:])
        assert "<state>\nThis replaces the state blocks above." in news, "somebody else did it"
        assert "#1 Write the index" not in news
    stores.close()
