"""All three engines keep the promises of the protocol."""

from collections.abc import Callable

import pytest

from outlive.stores.tasks.protocol import TaskStore
from outlive.testing import Clock, TaskStoreConformance
from tests.engines import Engine


class TestTaskStore(TaskStoreConformance):
    @pytest.fixture
    def open_store(self, engine: Engine) -> Callable[[Clock], TaskStore]:
        return engine.open


def test_the_suite_asks_for_a_way_to_open_a_store(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "from outlive.testing import TaskStoreConformance\nclass TestMine(TaskStoreConformance):\n    pass\n"
    )
    result = pytester.runpytest_subprocess("-p", "no:xdist", "-k", "new_store")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*override the fixture `open_store`*"])
