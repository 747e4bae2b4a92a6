"""A process that appends to a session until it is killed or refused: `python -m tests.lease_worker URL SESSION HOW`.

It prints `open EPOCH`, then each event that is acknowledged, and `refused …` when another process took the session
over. HOW is `open`, `take_over`, or `asked`: then it waits for a line before each event.
"""

import sys

from outlive.stores import open_stores
from outlive.stores.logs.protocol import SessionBusy
from outlive.testing.log_store import note


def main(url: str, session: str, how: str) -> None:
    store = open_stores(url, durability="process").logs
    writer = store.writer(session, take_over=how == "take_over")
    print("open", writer.epoch, flush=True)
    number = store.info(session).last_event
    while True:
        number += 1
        if how == "asked":
            sys.stdin.readline()
        try:
            writer.append([note(number, f"epoch {writer.epoch} " + "x" * (number % 7 * 300))])
        except SessionBusy as error:
            print("refused", error, flush=True)
            return
        print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
