"""A folder, a home, and agents in it whose model follows a script."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from outlive import Agent
from outlive.events import Noted, ToolFinished
from outlive.result import RunResult
from outlive.testing import ScriptedModel, say
from tests.engines import ROOT

PLAIN = Path(__file__).with_name("plain_server.py")


class Place:
    """Names servers, and runs scripts of calls."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.seen = folder / "home", folder / "work", folder / "seen"
        for one in (self.home, self.work, self.seen):
            one.mkdir()
        self.model = ScriptedModel([])
        self.notes: list[str] = []
        self.ending: RunResult | None = None

    def plain(self, *words: str, **more: Any) -> dict[str, Any]:
        return {"command": sys.executable, "args": [str(PLAIN), str(self.seen), *words], **more}

    def sdk(self, **more: Any) -> dict[str, Any]:
        environment = {"PYTHONPATH": str(ROOT), **more.pop("env", {})}
        return {"command": sys.executable, "args": ["-m", "tests.tools.mcp.server"], "env": environment, **more}

    def own(self, defer: bool = True, **servers: dict[str, Any]) -> None:
        """Servers of the user's own settings."""
        lines = [f"[mcp]\ndefer = {json.dumps(defer)}"]
        for name, server in servers.items():
            lines.append(f"[mcp.servers.{name}]")
            lines += [f"{key} = {_toml(value)}" for key, value in server.items()]
        (self.home / "outlive.toml").write_text("\n".join(lines))

    def project(self, **servers: dict[str, Any]) -> Path:
        path = self.work / ".mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}))
        return path

    def run(self, *turns: Any, **options: Any) -> list[ToolFinished]:
        """The results of the calls."""
        return asyncio.run(self.arun(*turns, **options))

    async def arun(
        self, *turns: Any, beside: Callable[[Agent], Any] | None = None, **options: Any
    ) -> list[ToolFinished]:
        self.model = ScriptedModel([*turns, say("done")])
        async with Agent(self.work, model=self.model, **options) as agent:
            helper = asyncio.ensure_future(beside(agent)) if beside else None
            self.ending = await agent.run("go")
            if helper is not None:
                await helper
            events = agent.events
        assert not any(Path(f"/proc/{pid}").exists() for pid in self.starts), "servers end with the agent"
        self.notes = [event.text for event in events if isinstance(event, Noted)]
        return [event for event in events if isinstance(event, ToolFinished)]

    @property
    def starts(self) -> list[int]:
        """The processes that the plain server was started as."""
        path = self.seen / "starts"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def tools(self, request: int = 0) -> list[str]:
        return [str(tool["name"]) for tool in self.model.requests[request].tools]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {json.dumps(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


async def until(path: Path) -> str:
    """The text of a file, once it has one."""
    while not path.exists() or not path.read_text():
        await asyncio.sleep(0.01)
    return path.read_text()


def texts(results: Iterable[ToolFinished]) -> list[str]:
    return [result.text for result in results]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place(tmp_path)
    monkeypatch.setenv("OUTLIVE_HOME", str(place.home))
    return place
