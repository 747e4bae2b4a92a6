"""The schedule of faults."""

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
    """The faults and the requests they apply to."""

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
        """Apply a fault to requests by number (from 1, valid requests only), by a predicate, or to the next one.

        `times` bounds how often; by default without limit, or once for a fault with neither number nor predicate.
        """
        numbers = frozenset([at] if isinstance(at, int) else at)
        remaining = times if times is not None else (None if numbers or when else 1)
        with self._lock:
            self._rules.append(_Rule(fault, numbers, when, remaining))

    def take(self, request: SeenRequest) -> Fault | None:
        """Return the fault of the first rule that applies to this request."""
        with self._lock:
            for rule in self._rules:
                if rule.fits(request):
                    if rule.left is not None:
                        rule.left -= 1
                    return rule.fault
        return None
