"""How soon `outlive mcp` answers its client, against a bare start of Python: `python -m bench.mcp`."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

ROUNDS = 15
_CLIENT = {"name": "bench", "version": "1"}
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}
_STATE = {"name": "state", "arguments": {}}


def _request(number: int, method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


PROBES = {
    "server/discover and tools/list (2026-07-28)": (
        _request(1, "server/discover", _meta=_ENVELOPE),
        _request(2, "tools/list", _meta=_ENVELOPE),
    ),
    "initialize and tools/list (2025-06-18)": (_request(1, "initialize", **_GREETING), _request(2, "tools/list")),
    "the same, and the first call (state)": (
        _request(1, "initialize", **_GREETING),
        _request(2, "tools/call", **_STATE),
    ),
}


def _probed(lines: tuple[str, ...], folder: str) -> float:
    """Start a server, ask, and read the answers; when the last one came."""
    process = subprocess.Popen(
        [sys.executable, "-m", "outlive", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for line in lines:
        process.stdin.write(line)
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert "result" in answer, answer
    answered = time.perf_counter()
    process.communicate()
    return answered


def _ran(code: str) -> float:
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OUTLIVE_HOME"] = f"{folder}/home"
        work: dict[str, Callable[[], float]] = {
            "python -c pass": partial(_ran, "pass"),
            "import mcp.server": partial(_ran, "import mcp.server"),
        }
        work |= {name: partial(_probed, lines, folder) for name, lines in PROBES.items()}
        times: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(ROUNDS):
            for name, one in work.items():
                start = time.perf_counter()
                times[name].append((one() - start) * 1000)
    bare = statistics.median(times["python -c pass"])
    print("| from the start to the answer | median, ms | against a bare start |\n| --- | --- | --- |")
    for name, found in times.items():
        print(f"| {name} | {statistics.median(found):.0f} | {statistics.median(found) / bare:.1f}x |")


if __name__ == "__main__":
    main()
