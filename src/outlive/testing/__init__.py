"""For tests, ours and yours: suites that tell whether a part keeps the promises of its protocol.

Write an engine of your own and let `TaskStoreConformance`, `LogStoreConformance` or `MemoryStoreConformance` judge
it; `tasks/`, `log_store.py` and `memory_store.py` say how.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlive.testing.log_store import LogStoreConformance as LogStoreConformance
    from outlive.testing.memory_store import MemoryStoreConformance as MemoryStoreConformance
    from outlive.testing.tasks import TaskStoreConformance as TaskStoreConformance
    from outlive.testing.tasks.support import Clock as Clock

_HOME = {
    "Clock": "tasks",
    "LogStoreConformance": "log_store",
    "MemoryStoreConformance": "memory_store",
    "TaskStoreConformance": "tasks",
}

__all__ = ["Clock", "LogStoreConformance", "MemoryStoreConformance", "TaskStoreConformance"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'outlive.testing' has no attribute {name!r}")
    from importlib import import_module

    import pytest

    module = f"outlive.testing.{_HOME[name]}"
    pytest.register_assert_rewrite(module)
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
