"""The real `outlive` at a real terminal (tmux), against a simulator."""

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from outlive.testing import Simulator
from tests.cli.chat.test_terminal import Terminal
from tests.e2e.conftest import MODELS
from tests.engines import worker_environment


class Window(Terminal):
    """A window with `outlive` in it, started in `folder`."""

    def __init__(self, socket: Path, sim: Simulator, folder: Path, *arguments: str, more: dict[str, str]) -> None:
        self.socket = socket
        home = {"OUTLIVE_HOME": str(folder.parent / "home"), "HOME": str(folder.parent)}
        terminal = {"LANG": "C.UTF-8", "TERM": "tmux-256color", "PATH": os.environ["PATH"]}
        env = {**worker_environment(), **terminal, **sim.env(), "MODEL_ID": MODELS[0], **home, **more}
        words = [f"{key}={value}" for key, value in env.items() if key not in ("COLUMNS", "LINES")]
        command = shlex.join(["env", "-i", *words, sys.executable, "-m", "outlive", *arguments])
        shell = f"cd {shlex.quote(str(folder))}; {command}; echo EXIT $?; read wait"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "main", "-x", "240", "-y", "40", shell)

    def paste(self, text: str, folder: Path) -> None:
        """Paste a text as a terminal that marks pastes does."""
        file = folder.parent / "pasted.txt"
        file.write_text(text)
        self.tmux("load-buffer", str(file))
        self.tmux("paste-buffer", "-p", "-t", "main")


@contextmanager
def window(sim: Simulator, folder: Path, *arguments: str, ready: str = "\n>", **more: str) -> Iterator[Window]:
    """Open a window, wait until `ready` is seen, and close it at the end; the path of its socket has to be short."""
    place = Path(tempfile.mkdtemp(prefix="ot"))
    opened = Window(place / "s", sim, folder, *arguments, more=more)
    try:
        opened.until(ready)
        yield opened
    finally:
        opened.tmux("kill-server")
        shutil.rmtree(place, ignore_errors=True)
