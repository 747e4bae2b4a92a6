"""The story of `outlive demo graph`: two worker processes, one kill -9, nothing lost."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import IO

import click

from outlive.cli.demo.telling import check, say
from outlive.cli.task.common import paint
from outlive.errors import LeaseError, NothingReady, OutliveError
from outlive.stores import open_stores
from outlive.stores.tasks.protocol import TaskQuery
from outlive.tasks.drawing import terminal
from outlive.tasks.drawing.marks import state
from outlive.tasks.example import PLAN
from outlive.tasks.graph import TaskGraph

LEASE = timedelta(seconds=3)
WORK_SECONDS = 0.6  # long enough to watch, and to kill a worker in between
EVERYTHING = TaskQuery(sort="id")


def tell(store: str | None) -> None:
    url = store or "files:.tasks"
    graph = TaskGraph(open_stores(url).tasks, actor="demo")
    say("A plan goes in, all of it or nothing:")
    graph.create_many(PLAN)
    click.echo(terminal.tree(graph.find(EVERYTHING), style=lambda text, task: paint(text, state(task))) + "\n")

    say("Two workers, two processes. Each claims what is ready, under a lease of 3 seconds:")
    with _worker("ada", url) as ada, _worker("bob", url) as bob:
        victim = _wait_until_held(graph, "bob", bob)
        bob.send_signal(signal.SIGKILL)
        bob.wait()
        say(f"\nkill -9 {bob.pid}: bob is dead, and task {victim} is still in his name.")
        click.echo(paint(f"  nobody may complete it for him: {_refusal(graph, victim)}", "dim"))
        say("His lease runs out, the task goes back, ada takes over:\n")
        ada.wait()

    tasks = graph.find(EVERYTHING)
    click.echo()
    click.echo(terminal.tree(tasks, style=lambda text, task: paint(text, state(task))) + "\n")
    say(f"What became of task {victim}:")
    for change in graph.history(victim):
        note = f"  {change.note}" if change.note else ""
        click.echo(f"  {paint(f'{change.at:%H:%M:%S.%f}'[:-3], 'dim')}  {change.op:<9} by {change.actor}{note}")
    _check(graph, victim)


def _check(graph: TaskGraph, victim: int) -> None:
    tasks = graph.find(EVERYTHING)
    ops = [change.op for task in tasks for change in graph.history(task.id)]
    click.echo()
    claims = {
        f"all {len(PLAN)} tasks are completed": [task.status for task in tasks] == ["completed"] * len(PLAN),
        "each was completed exactly once": ops.count("complete") == len(PLAN),
        "the dead worker's task changed hands": tasks[victim - 1].owner == "ada",
        "the store finds nothing wrong with itself": not graph.doctor(),
    }
    check(claims)


def work(store: str | None, name: str) -> None:
    """Run a worker: claim, work and complete until no open task is left."""
    graph = TaskGraph(open_stores(store or "files:.tasks").tasks)
    while graph.count():
        try:
            task = graph.wait_claim(owner=name, ttl=LEASE, timeout=0.2)
        except NothingReady:
            continue
        _tell(name, f"claims    {task.id} {task.subject}")
        time.sleep(WORK_SECONDS)
        token = task.lease.token if task.lease else None
        outcome = graph.complete(task.id, owner=name, token=token, result=f"done by {name}")
        ready = ", ".join(str(other.id) for other in outcome.unblocked)
        _tell(name, f"completes {task.id} {task.subject}" + (f"  → {ready} now ready" if ready else ""))


def _tell(name: str, text: str) -> None:
    click.echo(f"  {click.style(name, fg='cyan' if name == 'ada' else 'yellow')}  {text}")
    sys.stdout.flush()


@contextmanager
def _worker(name: str, url: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "outlive", "demo", "--worker", name, "--store", url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own interpreter
    reader = threading.Thread(target=_relay, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        yield process
        reader.join()
    finally:
        process.kill()
        process.wait()


def _relay(lines: IO[str]) -> None:
    for text in lines:
        click.echo(text, nl=False)


def _wait_until_held(graph: TaskGraph, owner: str, worker: "subprocess.Popen[str]") -> int:
    """Wait until a task is completed and the worker is in the middle of another; returns that one."""
    while worker.poll() is None:
        done = graph.count(TaskQuery(statuses=frozenset({"completed"})))
        held = graph.find(TaskQuery(statuses=frozenset({"in_progress"}), owner=owner))
        if done and held:
            time.sleep(WORK_SECONDS / 3)
            return held[0].id
        time.sleep(0.02)
    raise OutliveError(f"worker {owner} ended before it held a task (exit code {worker.returncode})")


def _refusal(graph: TaskGraph, number: int) -> str:
    try:
        graph.complete(number, owner="ada")
    except LeaseError as error:
        return str(error)
    return "(it was completed)"
