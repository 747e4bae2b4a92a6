"""A process that changes documents of a fleet: `python -m tests.fleet_worker JOB URL ARGUMENT`.

It says "ready", waits for a line on its input, so that all begin at once, and prints its result as JSON.
"""

import json
import sys
from datetime import datetime

from outlive.stores import open_stores
from outlive.stores.fleet.protocol import FleetStore
from outlive.testing.fleet_store import one_more


def count(fleet: FleetStore, times: str) -> int:
    for _ in range(int(times)):
        fleet.change("count", "all", one_more)
    return int(times)


def create(fleet: FleetStore, names: str) -> list[str]:
    """Try to be the first at each name; the names where we were."""
    mine = []
    found: list[bytes | None] = []

    def take(old: bytes | None, _now: datetime) -> bytes:
        found.append(old)
        return old or b"taken"

    for name in names.split(","):
        fleet.change("name", name, take)
        if found[-1] is None:
            mine.append(name)
    return mine


def come_and_go(fleet: FleetStore, times: str) -> int:
    """Make the document where it is absent and remove it where it is there; how often it was made."""
    made = 0
    for _ in range(int(times)):
        made += fleet.change("flag", "one", lambda old, _now: b"up" if old is None else None) is not None
    return made


def acknowledge(fleet: FleetStore, name: str) -> None:
    """Count until killed, saying each number once it is in the store."""
    while True:
        made = fleet.change("count", name, one_more)
        print((made or b"").decode(), flush=True)


JOBS = {job.__name__: job for job in (count, create, come_and_go, acknowledge)}


def main() -> None:
    job, url, argument = sys.argv[1:]
    fleet = open_stores(url, durability="process").fleet
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(JOBS[job](fleet, argument)), flush=True)
    fleet.close()


if __name__ == "__main__":
    main()
