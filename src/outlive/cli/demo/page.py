"""The web server beside a story: `outlive web`, as a process of its own, in the folder of the story."""

import json
import os
import subprocess
import sys
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Self
from urllib.request import Request, urlopen

import click

from outlive.cli.demo.telling import aside, say
from outlive.errors import OutliveError

READER_SECONDS = 60.0
"""How long a story waits for a browser."""


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
        click.echo(f"Watch it in the browser: {url}")
        if not no_open:
            webbrowser.open(url)
        self._wait_for_reader(url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def _wait_for_reader(self, url: str) -> None:
        """The story begins once a browser shows the page, or after a while without one."""
        click.echo(f"The story begins when the page is open, at the latest after {READER_SECONDS:.0f} seconds.\n")
        sys.stdout.flush()
        address, _, token = url.partition("#token=")
        about = Request(f"{address}api/about", headers={"Authorization": f"Bearer {token}"})  # noqa: S310 - our own
        deadline = time.monotonic() + READER_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(OSError, ValueError), urlopen(about, timeout=5) as answer:  # noqa: S310 - our own
                if json.load(answer)["watched"]:
                    return
            time.sleep(0.2)

    def wait(self) -> None:
        """Until Ctrl-C."""
        say("\nThe page stays open. Ctrl-C ends it.")
        aside("  For your own projects:  outlive web")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            self._process.wait()
