"""A fleet in one folder, and one on two machines with a remote."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.work.fleet import Fleet, checkout, shared_checkout


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """One machine, no remote, the default stores."""
    fleet = Fleet(checkout(tmp_path / "project"))
    yield fleet
    fleet.close()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Callable[[str], Fleet]]:
    """Makes machines: each has a checkout of one remote; the store is shared."""
    made: list[Fleet] = []

    def make(name: str) -> Fleet:
        folder = shared_checkout(tmp_path / name / "project", tmp_path / "remote.git")
        made.append(Fleet(folder, f"sqlite:///{tmp_path / 'store.db'}", machine=name))
        return made[-1]

    yield make
    for fleet in made:
        fleet.close()
