"""Clients, hooks and servers are killed at random moments while the job runs; then outlive is taken out again.

Only the client that was started here and processes below it are killed; they are found through /proc.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.clients.clients import Client
from bench.clients.job import Job
from bench.clients.place import Place, Skipped
from outlive.config import Workspace
from outlive.events import ToolFinished
from outlive.messages import ToolResult
from outlive.replay.importers import read_recording
from outlive.replay.machine import SessionPlace, client_sessions, look_at
from outlive.stores import open_stores
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.reading import full_log

VICTIMS = ("client", "hook", "hook", "mcp", "mcp", "serve", "serve")
Files = dict[str, bytes]


def measure(kind: type[Client], job: Job) -> None:
    """Run the job to its end through all deaths and print what holds. Raises SystemExit if something does not."""
    with Place(kind, job) as place:
        before = _files(place.home)
        place.outlive_init("--yes")
        written = {path: data for path, data in _files(place.home).items() if before.get(path) != data}
        deaths = _worked(place, random.Random(job.seed))
        results = _results(place)
        checks: dict[str, Callable[[], bool]] = {
            "the job was done to its end": lambda: place.worker.done,
            "no file of the settings was damaged": lambda: written.items() <= _files(place.home).items(),
            f"our log has all {len(results)} results of the client's transcript": lambda: results <= _logged(place),
            "`outlive init --check` finds all of it": lambda: _accepted(place, "--check"),
            "`outlive init --undo` leaves no file of ours and no change": lambda: (
                _accepted(place, "--undo", "--yes") and _undone(_files(place.home), before, written)
            ),
        }
        print(f"\n{kind.name}, killed: " + ", ".join(f"{name} {count} times" for name, count in deaths.items()))
        failed = False
        for words, check in checks.items():
            holds = check()
            failed |= not holds
            print(f"- {words}" if holds else f"- NOT TRUE: {words}", flush=True)
        if failed:
            raise SystemExit(1)


def _worked(place: Place, chance: random.Random) -> Counter[str]:
    """Give prompts until the job is done, and one in peace; return who was killed how often."""
    deaths: Counter[str] = Counter()
    place.ask(place.job.prompts[0])
    while not place.worker.done:
        process = place.begin("Go on.")
        while process.poll() is None:
            time.sleep(chance.uniform(*place.client.life))
            victim = chance.choice(VICTIMS)
            for pid in _processes(process.pid, victim, place.repository):
                os.kill(pid, signal.SIGKILL)
                deaths[victim] += 1
                break
        process.communicate()
    place.ask("Thank you.")
    return deaths


def _processes(root: int, victim: str, repository: Path) -> list[int]:
    """Find the client, or the processes of outlive that belong to it: its hooks, its servers."""
    if victim == "client":
        return [root]
    if victim == "serve":  # started by the client, but detached from it
        return [pid for pid in _all() if victim in _words(pid) and str(repository) in _words(pid)]
    return [pid for pid in _below(root) if victim in _words(pid)]


def _all() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").glob("[0-9]*"))


def _below(root: int) -> Iterator[int]:
    for task in Path(f"/proc/{root}/task").glob("*/children"):
        try:
            children = [int(pid) for pid in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from _below(child)


def _words(pid: int) -> list[str]:
    """Return the command line of a process of outlive; of others, and of one that has ended, nothing."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []
    return words if any(Path(word).name == "outlive" for word in words) else []


def _files(folder: Path) -> Files:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _session(place: Place) -> SessionPlace:
    """Where the client keeps the session."""
    client = place.client.name.removesuffix("-scripts")
    return next(found for found in client_sessions(place.home) if found.client == client)


def _results(place: Place) -> set[str]:
    """Return the ids of the calls that have a result in the client's transcript."""
    blocks = (block for one in read_recording(_session(place).path).messages for block in one.message.blocks)
    return {block.call_id for block in blocks if isinstance(block, ToolResult)}


def _logged(place: Place) -> set[str]:
    """Return the ids of the calls that have a result in our log."""
    workspace = Workspace.find(place.repository)
    store = open_stores(workspace.store_url, base=workspace.root).logs
    found = look_at(_session(place))
    assert found is not None
    log = full_log(store, followed_id(found.client, found.id))
    return {event.call_id for event in log.events if isinstance(event, ToolFinished)}


def _accepted(place: Place, *options: str) -> bool:
    try:
        place.outlive_init(*options)
    except Skipped as reason:
        print(f"  {reason}")
        return False
    return True


def _undone(now: Files, before: Files, written: Files) -> bool:
    """Whether what was there is as it was, and what was written is gone; the client's own files may be there."""
    changed = [path for path, data in before.items() if now.get(path) != data]
    left = (written.keys() - before.keys()) & now.keys()
    if changed or left:
        print(f"  changed: {', '.join(changed) or 'nothing'}; left: {', '.join(sorted(left)) or 'nothing'}")
    return not changed and not left
