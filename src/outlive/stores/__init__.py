"""Where state is kept. `open_task_store`, `open_log_store` and `open_memory_store` turn a URL into an engine;
`tasks.protocol`, `logs.protocol` and `memories.protocol` say what an engine is."""

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from outlive.config import home as home_folder
from outlive.config.workspace import DURABILITIES
from outlive.errors import ConfigError
from outlive.stores.locations import FORMS, MEMORY, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from outlive.stores.logs.protocol import LogStore
    from outlive.stores.memories.protocol import MemoryStore
    from outlive.stores.tasks.protocol import TaskStore


def open_task_store(
    url: str = "files:.tasks",
    *,
    base: Path | None = None,
    durability: str = "full",
    clock: Callable[[], datetime] | None = None,
) -> "TaskStore":
    """Open an engine by URL. Relative paths are taken from `base`, the current folder by default.

    `clock` replaces the clock of the engine, for tests.
    """
    base = base or Path.cwd()
    scheme = _scheme(url, durability)
    options = {} if clock is None else {"clock": clock}
    if scheme == "files":
        from outlive.stores.tasks.files.store import FileTaskStore

        return FileTaskStore(path_of(url, base), durability=durability, **options)
    if scheme == "sqlite":
        from outlive.stores.sql.sqlite import SQLiteDatabase
        from outlive.stores.tasks.sql import SQLTaskStore

        return SQLTaskStore(SQLiteDatabase(path_of(url, base), durability=durability), **options)
    if scheme in ("postgresql", "postgres"):
        from outlive.stores.sql.postgres import PostgresDatabase
        from outlive.stores.tasks.sql import SQLTaskStore

        return SQLTaskStore(PostgresDatabase(url), **options)
    raise _unknown(url)


def open_log_store(url: str = "files:.tasks", *, base: Path | None = None, durability: str = "full") -> "LogStore":
    """Open the engine that holds session logs, by the same URL: for files, `.transcripts` beside the task folder."""
    base = base or Path.cwd()
    scheme = _scheme(url, durability)
    if scheme == "files":
        from outlive.stores.logs.files import FileLogStore

        return FileLogStore(path_of(url, base).parent, durability=durability)
    if scheme == "sqlite":
        from outlive.stores.logs.sql import SQLLogStore
        from outlive.stores.sql.sqlite import SQLiteDatabase

        return SQLLogStore(SQLiteDatabase(path_of(url, base), durability=durability))
    if scheme in ("postgresql", "postgres"):
        from outlive.stores.logs.sql import SQLLogStore
        from outlive.stores.sql.postgres import PostgresDatabase

        return SQLLogStore(PostgresDatabase(url))
    raise _unknown(url)


def open_memory_store(
    url: str = "files:.tasks",
    *,
    base: Path | None = None,
    durability: str = "full",
    home: Path | None = None,
    clock: Callable[[], datetime] | None = None,
) -> "MemoryStore":
    """Open the engine that holds a project's memories, by the same URL: for files, `.memory` beside the tasks.

    What lies in a folder may have come with it: `home`, OUTLIVE_HOME or ~/.outlive by default, knows what is the
    user's; with OUTLIVE_TRUST_MEMORIES all of it is. A server was chosen by the user, so all that it holds counts.
    """
    base = base or Path.cwd()
    scheme = _scheme(url, durability)
    options: dict[str, Any] = {} if clock is None else {"clock": clock}
    options |= {} if os.environ.get("OUTLIVE_TRUST_MEMORIES") else {"home": home or home_folder()}
    if scheme == "files":
        from outlive.stores.memories.files import FileMemoryStore

        return FileMemoryStore(path_of(url, base).parent / MEMORY, durability=durability, **options)
    if scheme == "sqlite":
        from outlive.stores.memories.sql import SQLMemoryStore
        from outlive.stores.sql.sqlite import SQLiteDatabase

        return SQLMemoryStore(SQLiteDatabase(path_of(url, base), durability=durability), **options)
    if scheme in ("postgresql", "postgres"):
        from outlive.stores.memories.sql import SQLMemoryStore
        from outlive.stores.sql.postgres import PostgresDatabase

        options.pop("home", None)
        return SQLMemoryStore(PostgresDatabase(url), **options)
    raise _unknown(url)


def open_user_memory(
    home: Path, *, durability: str = "full", clock: Callable[[], datetime] | None = None
) -> "MemoryStore":
    """The memory that a person has across projects: always files, in `memory` of outlive's folder in their home."""
    from outlive.stores.memories.files import FileMemoryStore

    place = (home / "memory").resolve()  # a link in the home is the user's own
    store = FileMemoryStore(place, scope="user", durability=durability)
    store.clock = clock or store.clock
    return store


def _scheme(url: str, durability: str) -> str:
    """What comes before the colon. A durability that does not exist would quietly be the weaker one."""
    scheme, _, rest = url.partition(":")
    if not rest:
        raise ConfigError(f"{url!r} is not the URL of a store; it looks like {FORMS}")
    if durability not in DURABILITIES:
        raise ConfigError(f"durability = {durability!r}; it is one of {', '.join(DURABILITIES)}")
    return scheme


def _unknown(url: str) -> ConfigError:
    return ConfigError(f"{url!r}: {url.partition(':')[0]!r} is not a kind of store; use {FORMS}")
