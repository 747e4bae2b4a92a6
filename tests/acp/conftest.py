from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small project."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "app.py").write_text("VALUE = 1\nOTHER = 2\n")
    return work
