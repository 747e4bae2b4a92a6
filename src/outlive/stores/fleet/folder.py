"""The documents of a fleet beside tasks in files: a SQLite file in the folder that git ignores.

They are not in files of their own because workers change them many times a second, and each change is a transaction.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from outlive.private import enter
from outlive.stores.disk import Disk, errors_named
from outlive.stores.fleet.protocol import Work
from outlive.stores.fleet.sql import SQLFleetStore
from outlive.stores.sql.database import Connection
from outlive.stores.sql.sqlite import MEMORY, SQLiteDatabase

T = TypeVar("T")

FILE = "fleet.db"


class FolderFleetStore(SQLFleetStore):
    """Makes its file with the first change."""

    def __init__(self, tasks: Path, *, durability: str = "full", clock: Callable[[], datetime] | None = None) -> None:
        enter(tasks)
        self._tasks = tasks
        self._disk = Disk(tasks / ".local", durable=durability == "full")
        enter(self._disk.local)
        super().__init__(SQLiteDatabase(self._disk.local / FILE, durability=durability), clock=clock)

    def change(self, kind: str, id: str, work: Work, *, announce: bool = False) -> bytes | None:
        with errors_named("creating", self._disk.local):
            self._disk.set_up()
        new = super().change(kind, id, work, announce=announce)
        if announce:
            with suppress(OSError):
                os.utime(self._tasks)  # those who watch the tasks look at the folder's times
        return new

    def _read(self, work: Callable[[Connection], T]) -> T:
        if not self._disk.local.is_dir():
            return SQLFleetStore(SQLiteDatabase(MEMORY))._read(work)
        return super()._read(work)
