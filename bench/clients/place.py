"""A fresh home and repository with a client in them, and the simulator that answers it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from bench.clients.clients import Client
from bench.clients.job import Job, Worker
from outlive.testing import Simulator

NOWHERE = "http://127.0.0.1:9"
"""In place of any package registry: nothing is fetched."""
OUTLIVE = Path(sys.executable).parent / "outlive"


class Skipped(Exception):
    """An arm that cannot be run here, with the reason."""


class Place:
    """Where one run happens. Raises Skipped if the client is not installed."""

    def __init__(self, kind: type[Client], job: Job) -> None:
        if not kind.installed():
            raise Skipped(f"{kind.name} is not installed: python -m bench.clients.install {kind.name}")
        self._folder = TemporaryDirectory(prefix="outlive-bench-", ignore_cleanup_errors=True)
        self.home = Path(self._folder.name) / "home"
        self.repository = Path(self._folder.name) / "warehouse"
        self.job = job
        self.client = kind(self.home)
        self.worker = Worker(job, self.client)
        self.sim = Simulator(brain=self.worker, binding="reported")

    def __enter__(self) -> Self:
        self.home.mkdir()
        self.job.write(self.repository)
        self.sim.start()
        self._environment = {
            "PATH": os.pathsep.join([str(OUTLIVE.parent), os.environ["PATH"]]),
            "HOME": str(self.home),
            "npm_config_registry": NOWHERE,
            **self.sim.env(),
            **self.client.configure(self.sim),
        }
        return self

    def __exit__(self, *error: object) -> None:
        self._end_processes()
        self.sim.close()
        self._folder.cleanup()

    def _end_processes(self) -> None:
        """End what was left running for this place, such as `outlive serve`: its command line names the folder."""
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if self._folder.name.encode() in entry.read_bytes():
                    os.kill(int(entry.parent.name), signal.SIGTERM)
            except OSError:
                continue

    def outlive_init(self, *options: str) -> None:
        """Run `outlive init` for the client. Raises Skipped if it fails."""
        command = [str(OUTLIVE), "init", self.client.name, *options]
        done = subprocess.run(
            command, cwd=self.repository, env=self._environment, capture_output=True, text=True, timeout=120
        )
        if done.returncode:
            words = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise Skipped(f"`outlive init {self.client.name}` failed: {words[-1] if words else ''}")

    def begin(self, prompt: str) -> "subprocess.Popen[str]":
        """Start the client with a prompt; the session goes on with each further one."""
        return subprocess.Popen(
            self.client.command(prompt),
            cwd=self.repository,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, prompt: str) -> None:
        """Give a prompt and wait for its end."""
        process = self.begin(prompt)
        stdout, stderr = process.communicate(timeout=900)
        if process.returncode:
            ended = f"{self.client.name} ended with {process.returncode}"
            raise SystemExit(f"{ended}:\n{stdout[-2000:]}\n{stderr[-2000:]}")
        self.client.ended(stdout)
