"""The command line as a user has it: a process of its own, in a folder of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


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
        return Result(
            subprocess.run(
                [sys.executable, "-m", "outlive", *arguments],
                cwd=self.folder,
                env=self.environment | environment,
                input=stdin if isinstance(stdin, str) else stdin.decode(),
                capture_output=True,
                text=True,
                check=False,
            )
        )

    def task(self, *arguments: str, **options: Any) -> Result:
        return self("task", *arguments, **options)
