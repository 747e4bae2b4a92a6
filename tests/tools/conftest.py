"""A workbench for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.workbench import Workbench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    bench = Workbench(tmp_path / "work")
    yield bench
    bench.close()
