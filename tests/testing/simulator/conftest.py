"""A simulator whose model always says the same, for tests that look at what is accepted."""

from collections.abc import Iterator

import pytest

from outlive.testing import Simulator, say


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(brain=lambda request: say("Fine.")) as simulator:
        yield simulator
        simulator.verify()
