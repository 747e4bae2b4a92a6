"""The web server beside a story: `outlive web`, as a process of its own, in the folder of the story."""

import json
import os
import subprocess
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Self

import click

from outlive.cli.demo.telling import aside, say
from outlive.errors import OutliveError


class DemoPage:
    """Serves `folder` while it is open."""

    def __init__(self, folder: Path, home: Path, store: str | None, *, no_open: bool) -> None:
        command = [sys.executable, "-m", "outlive", "web", "--json", "--no-open"]
        command += ["--store", store] if store else []
        environment = os.environ | {"OUTLIVE_HOME": str(home)}
        self._process = subprocess.Popen(  # noqa: S603 - our own
            command, cwd=folder, env=environment, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        with self._process.stdout as lines:
            line = lines.readline()
        if not line:
            self._process.wait()
            raise OutliveError("the page could not be started; the reason is above")
        url = json.loads(line)["url"]
        click.echo(f"Watch it in the browser: {url}\n")
        if not no_open:
            webbrowser.open(url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def wait(self) -> None:
        """Until Ctrl-C."""
        say("\nThe page stays open. Ctrl-C ends it.")
        aside("  For your own projects:  outlive web")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            self._process.wait()
