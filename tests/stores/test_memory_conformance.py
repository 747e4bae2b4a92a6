"""All three engines keep the promises of the memory protocol."""

from collections.abc import Callable

import pytest

from outlive.stores import open_stores
from outlive.stores.memories.protocol import MemoryStore
from outlive.testing import MemoryStoreConformance
from tests.engines import Engine


class TestMemoryStore(MemoryStoreConformance):
    @pytest.fixture
    def open_memories(self, engine: Engine) -> Callable[[], MemoryStore]:
        return lambda: open_stores(engine.url, durability=engine.durability).memories


def test_the_suite_asks_for_a_way_to_open_a_store(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "from outlive.testing import MemoryStoreConformance\nclass TestMine(MemoryStoreConformance):\n    pass\n"
    )
    result = pytester.runpytest_subprocess("-p", "no:xdist", "-k", "new_store")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*override the fixture `open_memories`*"])
