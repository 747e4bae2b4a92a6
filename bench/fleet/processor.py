"""Processor time of the server, which other work on the machine changes less than it changes the time that passes."""

import os
from pathlib import Path

import psycopg


class ServerTime:
    """Of all processes of a server on this machine together; None for a server elsewhere."""

    def __init__(self, server: str) -> None:
        self._parent: int | None = None
        with psycopg.connect(server) as connection:
            row = connection.execute("SELECT pg_backend_pid()").fetchone()
            assert row is not None
            backend = Path(f"/proc/{row[0]}")
            if (backend / "comm").exists() and (backend / "comm").read_text().startswith("postgres"):
                self._parent = int(_fields(row[0])[1])

    def seconds(self) -> float | None:
        if self._parent is None:
            return None
        own = _fields(self._parent)
        ticks = sum(map(int, own[11:15]))  # with those of its children that have ended
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = _fields(int(entry.name))
                except OSError:
                    continue
                if int(fields[1]) == self._parent:
                    ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


def _fields(pid: int) -> list[str]:
    """Of /proc/PID/stat, from the state on."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
