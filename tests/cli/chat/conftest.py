"""A terminal for the tests of the conversation."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.chat.test_terminal import Open, Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Open]:
    """Opens the program in a window of its own; the path of its socket has to be short."""
    folder = Path(tempfile.mkdtemp(prefix="ot"))
    opened: list[Terminal] = []

    def open_one(scene: str, *, columns: int = 80, rows: int = 24, ready: str = "\n>", **more: str) -> Terminal:
        one = Terminal(folder / f"s{len(opened)}", scene, tmp_path, columns=columns, rows=rows, more=more)
        opened.append(one)
        one.until(ready)
        return one

    yield open_one
    for one in opened:
        one.tmux("kill-server")
    shutil.rmtree(folder, ignore_errors=True)
