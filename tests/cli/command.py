"""The command line as a user has it: a process of its own, in a folder of its own."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.fork_server import fork_server


class Result:
    def __init__(self, process: "subprocess.CompletedProcess[str]") -> None:
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


class Outlive:
    def __init__(self, folder: Path, store: str | None = None) -> None:
        self.folder = folder
        self.environment = dict(os.environ)
        if store:
            self.environment["OUTLIVE_STORE"] = store

    def __call__(self, *arguments: str, stdin: str | bytes = "", **environment: str) -> Result:
        text = stdin if isinstance(stdin, str) else stdin.decode()
        return Result(
            fork_server().run(arguments, folder=self.folder, environment=self.environment | environment, stdin=text)
        )

    def task(self, *arguments: str, **options: Any) -> Result:
        return self("task", *arguments, **options)
