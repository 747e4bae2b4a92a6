"""A process that works in a session until it is killed. It says on stdout what was acknowledged, and nothing before.

python -m tests.session_worker append|compact URL SESSION
"""

import signal
import sys

from outlive.agent import Session
from outlive.events import Checkpointed
from outlive.stores import open_stores
from tests.talk import step

WINDOW = 6_000
MAX_EVENTS = 4_000
"""Events of a worker that nobody kills: its reader has to hold them all in memory."""


def main(job: str, url: str, name: str) -> None:
    store = open_stores(url, durability="full").logs
    session = Session.resume(store, name, window=WINDOW)
    if job == "append":
        for number in range(MAX_EVENTS):
            size = {0: 30_000, 1: 5_000}.get(number % 49, number % 7 * 100)
            event = session.log(Checkpointed, label="test", data={"x": "x" * size})
            say(event.id)
        signal.pause()
    number = session.last_event
    while True:
        number += 1
        if number % 10 == 0:
            session.user_said(f"part {number}, never mind the rest")
        session.next_request()
        say(session.last_event)
        step(session, number, lines=40 + number % 3 * 400)
        say(session.last_event)


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
