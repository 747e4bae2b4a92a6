"""All three engines keep the promises of the log protocol."""

from collections.abc import Callable

import pytest

from outlive.stores import open_stores
from outlive.stores.logs.protocol import LogStore
from outlive.testing import LogStoreConformance
from tests.engines import Engine


class TestLogStore(LogStoreConformance):
    @pytest.fixture
    def open_logs(self, engine: Engine) -> Callable[[], LogStore]:
        return lambda: open_stores(engine.url, durability=engine.durability).logs


def test_the_suite_asks_for_a_way_to_open_a_store(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "from outlive.testing import LogStoreConformance\nclass TestMine(LogStoreConformance):\n    pass\n"
    )
    result = pytester.runpytest_subprocess("-p", "no:xdist", "-k", "new_store")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*override the fixture `open_logs`*"])
