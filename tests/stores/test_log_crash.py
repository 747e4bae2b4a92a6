"""kill -9 at random instants while appending and compacting: it reopens, and nothing acknowledged is lost."""

import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from itertools import count

import pytest

from outlive.agent import Session
from outlive.stores import open_stores
from outlive.stores.logs.protocol import LogStore
from outlive.stores.logs.reading import full_log
from tests.engines import ROOT, Engine, worker_environment
from tests.session_worker import WINDOW
from tests.talk import step

ROUNDS = 4


def killed(job: str, url: str, session: str, after: float) -> list[int]:
    """Let a worker work for a while after its first word, kill it, and return what it had acknowledged."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.session_worker", job, url, session],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=worker_environment(),
    )
    assert worker.stdout is not None
    first = worker.stdout.readline()
    assert first, worker.communicate()[1]
    time.sleep(after)
    worker.send_signal(signal.SIGKILL)
    rest, _ = worker.communicate(timeout=300)
    words = (first + rest).split("\n")
    return [int(word) for word in words[:-1] if word]


@pytest.mark.parametrize("job", ["append", "compact"])
def test_nothing_acknowledged_is_lost(engine: Engine, job: str) -> None:
    random.seed(f"{engine.name} {job}")
    with closing(open_stores(engine.url, durability=engine.durability).logs) as store:
        Session.start(store, id="s", system="be brief", window=WINDOW).close()
        survive(store, engine.url, job)


def survive(store: LogStore, url: str, job: str) -> None:
    acknowledged = 1
    before: list[bytes] = []
    for number in count():
        acknowledged = max([acknowledged, *killed(job, url, "s", random.uniform(0.0, 0.3))])
        log = full_log(store, "s")
        numbers = [event.id for event in log.events]
        assert numbers == list(range(1, len(numbers) + 1))
        assert numbers[-1] >= acknowledged
        with Session.resume(store, "s", window=WINDOW) as session:
            for old in before:
                assert session.engine.recall(1).text.encode() == old
            session.next_request()
            step(session, session.last_event)
            acknowledged = session.last_event
            before = [session.engine.recall(1).text.encode()] if len(session.engine.history.pages) else []
            tried = job != "compact" or session.engine.projection.event  # a slow worker gets to a pass only later
        if number + 1 >= ROUNDS and tried:
            break


def test_a_writer_that_was_killed_holds_no_lock(files: Engine) -> None:
    store = open_stores(files.url).logs
    Session.start(store, id="s").close()
    killed("append", files.url, "s", 0.0)
    store.writer("s").close()
