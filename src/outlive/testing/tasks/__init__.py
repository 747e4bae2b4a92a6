"""The contract of `outlive.stores.tasks.protocol` as tests. An engine that passes can store the task graph.

    class TestMyStore(TaskStoreConformance):
        @pytest.fixture
        def open_store(self, tmp_path):
            return lambda clock: MyStore(tmp_path / "tasks", clock=clock)

`open_store` is called several times in one test and must open the same store each time, empty at first, as several
processes would. The store must use `clock` for the time. This suite does not test processes, crashes and lost
connections, which depend on the engine.
"""

from collections.abc import Iterator

import pytest

from outlive.stores.tasks.protocol import TaskStore
from outlive.testing.tasks.graph import Graph
from outlive.testing.tasks.reading import ReadingConformance
from outlive.testing.tasks.support import Clock, OpenStore
from outlive.testing.tasks.writing import Writing


class TaskStoreConformance(ReadingConformance, Graph, Writing):
    """Subclass it and override the fixture `open_store`; see the package docstring."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("override the fixture `open_store`: it returns a function that opens your store")

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def store(self, open_store: OpenStore, clock: Clock) -> Iterator[TaskStore]:
        store = open_store(clock)
        yield store
        store.close()

    @pytest.fixture
    def other(self, open_store: OpenStore, clock: Clock) -> Iterator[TaskStore]:
        """The same store, opened a second time."""
        store = open_store(clock)
        yield store
        store.close()
