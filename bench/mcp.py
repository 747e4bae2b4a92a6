"""How soon `outlive mcp` answers its client, against a bare start of Python: `python -m bench.mcp`.

Processor time until the answer, and the clock; the rounds of all rows alternate.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

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


def _probed(lines: tuple[str, ...], folder: str) -> tuple[float, float]:
    """Start a server, ask, and read the answers: processor time and time until the last one."""
    began = time.perf_counter()
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
    took = time.perf_counter() - began
    threads = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    used = sum(int(path.read_text().split()[0]) for path in threads) / 1e9
    process.communicate()
    return used, took


def _ran(code: str) -> tuple[float, float]:
    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_CHILDREN)
        return found.ru_utime + found.ru_stime

    before, began = used(), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return used() - before, time.perf_counter() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OUTLIVE_HOME"] = f"{folder}/home"
        work: dict[str, Callable[[], tuple[float, float]]] = {
            "python -c pass": partial(_ran, "pass"),
            "import mcp.server": partial(_ran, "import mcp.server"),
        }
        work |= {name: partial(_probed, lines, folder) for name, lines in PROBES.items()}
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in work}
        for _ in range(ROUNDS):
            for name, one in work.items():
                times[name].append(one())
    bare = [statistics.median(found) for found in zip(*times["python -c pass"], strict=True)]
    print("| from the start to the answer | ms of processor time | against a bare start | ms by the clock | |")
    print("| --- | --- | --- | --- | --- |")
    for name, found in times.items():
        used, took = (statistics.median(one) for one in zip(*found, strict=True))
        ratios = f"{used * 1000:.0f} | {used / bare[0]:.1f}x | {took * 1000:.0f} | {took / bare[1]:.1f}x"
        print(f"| {name} | {ratios} |")


if __name__ == "__main__":
    main()
