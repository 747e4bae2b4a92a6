"""Machines of a fleet: folders that share nothing, with real processes that can be killed and stopped."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import parse_qs, urlsplit

from bench.fleet_chaos.line import Line

WRONG_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int r = real(id, t);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) t->tv_sec += OFFSET;
    return r;
}
int gettimeofday(struct timeval *t, void *zone) {
    struct timespec now;
    int r = clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return r;
}
time_t time(time_t *t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t) *t = now.tv_sec;
    return now.tv_sec;
}
"""
"""A library that moves the wall clock and leaves the others; libfaketime breaks sleeping in Python."""
SETTINGS = """[work]
lease = {lease}
split = {split}
"""


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example", "-c", "init.defaultBranch=main")
    run = subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return run.stdout.rstrip("\n")


def make_remote(folder: Path, files: Mapping[str, str]) -> Path:
    """A bare repository with a first commit."""
    seed = folder / "seed"
    for name, text in files.items():
        (seed / name).parent.mkdir(parents=True, exist_ok=True)
        (seed / name).write_text(text)
    git(seed, "init", "-q")
    git(seed, "add", "-A")
    git(seed, "commit", "-qm", "first")
    git(folder, "clone", "-q", "--bare", str(seed), "remote.git")
    return folder / "remote.git"


def wrong_clock(folder: Path, seconds: int) -> Path | None:
    """The library, if there is a compiler."""
    library = folder / "wrong_clock.so"
    compile = ["cc", "-shared", "-fPIC", f"-DOFFSET={seconds}", "-x", "c", "-", "-o", str(library), "-ldl"]
    with suppress(OSError, subprocess.CalledProcessError):
        subprocess.run(compile, input=WRONG_CLOCK, text=True, check=True, capture_output=True)
        return library
    return None


class Machine:
    """One machine with its worker."""

    def __init__(
        self,
        folder: Path,
        remote: Path,
        store: str,
        common: Mapping[str, str],
        lease: float,
        *,
        split: int,
        clock: Path | None = None,
    ) -> None:
        self.folder = folder
        self.name = folder.name
        self.project = folder / "project"
        folder.mkdir()
        server = urlsplit(store)
        socket_folder = parse_qs(server.query)["host"][0]
        self._line = Line(Path(socket_folder))
        self.store = store.replace(socket_folder, str(self._line.folder))
        """The URL of the store, through the line of this machine."""
        self._remote = folder / "remote.git"
        self._remote.symlink_to(remote)
        git(folder, "clone", "-q", str(self._remote), str(self.project))
        home = folder / "home" / ".outlive"
        home.mkdir(parents=True, mode=0o700)
        (home / "outlive.toml").write_text(SETTINGS.format(lease=lease, split=split))
        own = {"HOME": str(folder / "home"), "OUTLIVE_HOME": str(home), "OUTLIVE_MACHINE": f"{folder}"}
        own["OUTLIVE_STORE"] = self.store
        if clock:
            own["LD_PRELOAD"] = str(clock)
        self.environment = {**os.environ, **common, **own}
        self.kills = self.starts = 0
        self._log: TextIO = (folder / "worker.jsonl").open("a")
        self._worker: subprocess.Popen[str] | None = None

    @property
    def worktrees(self) -> list[Path]:
        return [path for path in self.folder.glob("home/.outlive-worktrees/*/task-*") if path.is_dir()]

    def start(self, *options: str) -> None:
        """Start a worker; each has a name of its own."""
        self.starts += 1
        name = f"{self.name}-{self.starts}"
        self._worker = subprocess.Popen(
            [sys.executable, "-m", "outlive", "work", "--json", "--store", self.store, "--owner", name, *options],
            cwd=self.project,
            env=self.environment,
            stdout=self._log,
            stderr=self._log,
            text=True,
        )

    @property
    def running(self) -> bool:
        return self._worker is not None and self._worker.poll() is None

    def kill(self) -> None:
        """As if the power was cut."""
        self.kills += self.running
        for _ in range(5):  # a process that was about to start another one
            if not self.signal(signal.SIGKILL):
                break
        if self._worker is not None:
            self._worker.wait()

    def cut(self) -> None:
        """Cut it off from PostgreSQL and the remote, while its processes go on."""
        self._line.cut()
        self._remote.rename(self._remote.with_name("unreachable.git"))

    def heal(self) -> None:
        self._remote.with_name("unreachable.git").rename(self._remote)
        self._line.heal()

    def drain(self) -> None:
        if self._worker is not None:
            with suppress(ProcessLookupError):
                self._worker.send_signal(signal.SIGTERM)

    def wait(self, seconds: float) -> int | None:
        """The exit code; None if it is still running then."""
        if self._worker is None:
            return 0
        with suppress(subprocess.TimeoutExpired):
            return self._worker.wait(seconds)
        return None

    def signal(self, number: signal.Signals) -> int:
        """Send a signal to every process of this machine; returns how many there were."""
        mark = f"\0OUTLIVE_MACHINE={self.folder}\0".encode()
        sent = 0
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with suppress(OSError):
                if mark in b"\0" + (entry / "environ").read_bytes() + b"\0":
                    os.kill(int(entry.name), number)
                    sent += 1
        return sent

    def close(self) -> None:
        self._log.close()
        self._line.close()

    def said(self) -> list[dict[str, Any]]:
        """What its workers have reported. A line that a kill has cut off is left out."""
        found = []
        for line in (self.folder / "worker.jsonl").read_text(errors="replace").splitlines():
            with suppress(ValueError):
                if isinstance(entry := json.loads(line), dict):
                    found.append(entry)
        return found
