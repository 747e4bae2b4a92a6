"""Public test tools: conformance suites for stores, a simulator of the model APIs, a scripted model.

Test your own engine with `TaskStoreConformance`, `LogStoreConformance`, `MemoryStoreConformance` or
`FleetStoreConformance`; `tasks/`, `log_store.py`, `memory_store.py` and `fleet_store.py` say how. Test an agent
against `Simulator`, a strict double of the Anthropic and OpenAI chat APIs, or drive one with `ScriptedModel`. Both
play steps made of `say`, `call`, `calls` and `think`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlive.testing.fleet_store import FleetStoreConformance as FleetStoreConformance
    from outlive.testing.log_store import LogStoreConformance as LogStoreConformance
    from outlive.testing.memory_store import MemoryStoreConformance as MemoryStoreConformance
    from outlive.testing.scripted import ScriptedModel as ScriptedModel
    from outlive.testing.simulator import Fault as Fault
    from outlive.testing.simulator import Simulator as Simulator
    from outlive.testing.simulator import call as call
    from outlive.testing.simulator import calls as calls
    from outlive.testing.simulator import say as say
    from outlive.testing.simulator import think as think
    from outlive.testing.tasks import TaskStoreConformance as TaskStoreConformance
    from outlive.testing.tasks.support import Clock as Clock

_HOME = {
    "Clock": "tasks",
    "Fault": "simulator",
    "FleetStoreConformance": "fleet_store",
    "LogStoreConformance": "log_store",
    "MemoryStoreConformance": "memory_store",
    "ScriptedModel": "scripted",
    "Simulator": "simulator",
    "TaskStoreConformance": "tasks",
    "call": "simulator",
    "calls": "simulator",
    "say": "simulator",
    "think": "simulator",
}
_NEED_PYTEST = {"tasks", "log_store", "memory_store", "fleet_store"}
"""Modules with assertions; only these need pytest."""

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'outlive.testing' has no attribute {name!r}")
    from importlib import import_module

    module = f"outlive.testing.{_HOME[name]}"
    if _HOME[name] in _NEED_PYTEST:
        import pytest

        pytest.register_assert_rewrite(module)
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
