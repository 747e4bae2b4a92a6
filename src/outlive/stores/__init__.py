"""Where state is kept. `open_stores` turns a URL into the stores of tasks, session logs, memories and fleets.

The `protocol` of each room defines what a store does. Tasks, logs and memories have one engine for files and one for
SQL databases; the documents of a fleet are always in a database, beside files in one of their own.
"""

import os
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from outlive.config import home as home_folder
from outlive.config.workspace import DURABILITIES
from outlive.errors import ConfigError
from outlive.stores.locations import MEMORY, URL_FORMS, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from outlive.stores.fleet.protocol import FleetStore
    from outlive.stores.logs.protocol import LogStore
    from outlive.stores.memories.protocol import MemoryStore
    from outlive.stores.sql.database import Database
    from outlive.stores.tasks.protocol import TaskStore


class Stores:
    """The stores of one project, each opened when it is first used. Made by `open_stores`."""

    def __init__(
        self, url: str, base: Path, durability: str, home: Path | None, clock: Callable[[], datetime] | None
    ) -> None:
        scheme, _, rest = url.partition(":")
        if not rest:
            raise ConfigError(f"{url!r} is not the URL of a store; it looks like {URL_FORMS}")
        if durability not in DURABILITIES:
            raise ConfigError(f"durability = {durability!r}; it is one of {', '.join(DURABILITIES)}")
        if scheme not in ("files", "sqlite", "postgresql", "postgres"):
            raise ConfigError(f"{url!r}: {scheme!r} is not a kind of store; use {URL_FORMS}")
        self.url = url
        self._path = path_of(url, base) if scheme in ("files", "sqlite") else None
        self._files = self._path if scheme == "files" else None
        self._durability = durability
        self._home = home
        self._clock = clock

    @cached_property
    def tasks(self) -> "TaskStore":
        if self._files is not None:
            from outlive.stores.tasks.files.store import FileTaskStore

            return FileTaskStore(self._files, durability=self._durability, clock=self._clock)
        from outlive.stores.tasks.sql import SQLTaskStore

        return SQLTaskStore(self._database(), clock=self._clock)

    @cached_property
    def logs(self) -> "LogStore":
        """Session logs; for files, in `.transcripts` beside the folder of the tasks."""
        if self._files is not None:
            from outlive.stores.logs.files import FileLogStore

            return FileLogStore(self._files.parent, durability=self._durability)
        from outlive.stores.logs.sql import SQLLogStore

        return SQLLogStore(self._database())

    @cached_property
    def memories(self) -> "MemoryStore":
        """The project's memories; for files, in `.memory` beside the folder of the tasks.

        A folder or database file may have come with a clone, so `home` decides which of its memories are the user's;
        with OUTLIVE_TRUST_MEMORIES all are. A server was chosen by the user, so all of its memories count.
        """
        trusted = self._path is None or os.environ.get("OUTLIVE_TRUST_MEMORIES")
        home = None if trusted else self._home or home_folder()
        if self._files is not None:
            from outlive.stores.memories.files import FileMemoryStore

            place = self._files.parent / MEMORY
            return FileMemoryStore(place, durability=self._durability, home=home, clock=self._clock)
        from outlive.stores.memories.sql import SQLMemoryStore

        return SQLMemoryStore(self._database(), home=home, clock=self._clock)

    @cached_property
    def user_memories(self) -> "MemoryStore":
        """The user's memories across projects: always files, in `memory` of outlive's folder in their home."""
        from outlive.stores.memories.files import FileMemoryStore

        place = ((self._home or home_folder()) / "memory").resolve()  # a link in the home is the user's own
        return FileMemoryStore(place, scope="user", durability=self._durability, clock=self._clock)

    @cached_property
    def fleet(self) -> "FleetStore":
        """The documents that workers share; for files, in a SQLite file in the local part of the tasks' folder."""
        if self._files is not None:
            from outlive.stores.fleet.folder import FolderFleetStore

            return FolderFleetStore(self._files, durability=self._durability, clock=self._clock)
        from outlive.stores.fleet.sql import SQLFleetStore

        return SQLFleetStore(self._database(), clock=self._clock)

    def close(self) -> None:
        """Close the stores that were opened."""
        for name in ("tasks", "logs", "fleet", "memories", "user_memories"):
            if store := self.__dict__.pop(name, None):
                store.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _database(self) -> "Database":
        """Each store has its own connection, because they may be used within one another."""
        if self._path is not None:
            from outlive.stores.sql.sqlite import SQLiteDatabase

            return SQLiteDatabase(self._path, durability=self._durability)
        from outlive.stores.sql.postgres import PostgresDatabase

        return PostgresDatabase(self.url)


def open_stores(
    url: str = "files:.tasks",
    *,
    base: Path | None = None,
    durability: str = "full",
    home: Path | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Stores:
    """The stores at a URL: files:FOLDER, sqlite:///FILE or postgresql://USER@HOST/DATABASE.

    Relative paths start at `base`, by default the current folder; `home` is outlive's folder in the user's home.
    `clock` replaces the engines' clock, for tests. Raises ConfigError for a URL or durability that does not exist.
    """
    return Stores(url, base or Path.cwd(), durability, home, clock)
