"""The entry: what is missing is said, what is there is loaded late."""

import subprocess
import sys
from pathlib import Path

import pytest

from outlive.cli import chat as room
from outlive.errors import ConfigError
from tests.cli.chat.stage import Stage
from tests.engines import worker_environment


def test_without_the_extra_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "find_spec", lambda name: None)
    stage = Stage(tmp_path)
    with pytest.raises(ConfigError, match=r"prompt_toolkit and rich: pip install 'outlive\[terminal\]'"):
        room.chat(stage.open, store=stage.store, root=tmp_path)
    assert stage.opened == []


def test_importing_the_entry_loads_neither_rich_nor_prompt_toolkit() -> None:
    heavy = ("rich", "prompt_toolkit", "markdown_it")
    code = f"import sys, outlive.cli.chat; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=worker_environment()
    )
    assert run.stdout.strip() == "[]"
