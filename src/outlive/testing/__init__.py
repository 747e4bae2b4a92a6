"""For tests, ours and yours: suites that tell whether a part keeps the promises of its protocol.

Write an engine of your own and let `TaskStoreConformance` judge it; `tasks/` says how.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlive.testing.tasks import TaskStoreConformance as TaskStoreConformance
    from outlive.testing.tasks.support import Clock as Clock

__all__ = ["Clock", "TaskStoreConformance"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'outlive.testing' has no attribute {name!r}")
    import pytest

    pytest.register_assert_rewrite("outlive.testing.tasks")
    from outlive.testing import tasks

    return getattr(tasks, name)


def __dir__() -> list[str]:
    return sorted(__all__)
