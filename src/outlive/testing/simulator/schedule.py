"""Which request meets which fault."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.seen import SeenRequest


@dataclass
class _Rule:
    fault: Fault
    at: frozenset[int]
    when: Callable[[SeenRequest], bool] | None
    left: int | None

    def fits(self, request: SeenRequest) -> bool:
        if self.left == 0 or (self.at and request.number not in self.at):
            return False
        return self.when is None or self.when(request)


@dataclass
class Faults:
    """The faults that wait for their request."""

    _rules: list[_Rule] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(
        self,
        fault: Fault,
        *,
        at: int | Iterable[int] = (),
        when: Callable[[SeenRequest], bool] | None = None,
        times: int | None = None,
    ) -> None:
        """Let requests meet a fault: by number (from 1, valid requests only), by a rule, or the very next one.

        `times` bounds how often; without it a rule holds for ever, and a fault with neither number nor rule once.
        """
        numbers = frozenset([at] if isinstance(at, int) else at)
        left = times if times is not None else (None if numbers or when else 1)
        with self._lock:
            self._rules.append(_Rule(fault, numbers, when, left))

    def take(self, request: SeenRequest) -> Fault | None:
        """The fault that this request meets: of the first rule that fits."""
        with self._lock:
            for rule in self._rules:
                if rule.fits(request):
                    if rule.left is not None:
                        rule.left -= 1
                    return rule.fault
        return None
