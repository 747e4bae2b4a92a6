"""For tests, ours and yours: suites that tell whether a part keeps the promises of its protocol.

Write an engine of your own and let `TaskStoreConformance` judge it; `task_store.py` says how.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlive.testing.task_store import Clock as Clock
    from outlive.testing.task_store import TaskStoreConformance as TaskStoreConformance

__all__ = ["Clock", "TaskStoreConformance"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'outlive.testing' has no attribute {name!r}")
    import pytest

    pytest.register_assert_rewrite("outlive.testing.task_store")
    from outlive.testing import task_store

    return getattr(task_store, name)


def __dir__() -> list[str]:
    return sorted(__all__)
