"""The source of answers: a script played step by step, or a brain that decides from the request alone."""

import threading
from collections import deque
from collections.abc import Callable, Iterable

from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step
from outlive.testing.simulator.verdict import RuleBroken

NOTHING = Step(())


class Play:
    """The script or the brain, and its problems."""

    def __init__(self, script: Iterable[Step] | None, brain: Callable[[SeenRequest], Step] | None) -> None:
        if script is not None and brain is not None:
            raise ValueError("give the simulator a script or a brain, not both")
        self._brain = brain
        self._steps = deque(script or ())
        self._played = 0
        self._problems: list[str] = []
        self._cause: BaseException | None = None
        self._lock = threading.Lock()

    def step(self, request: SeenRequest, *, silent: bool) -> Step:
        """Return the step that answers a request. A fault that replaces the answer leaves it for the next request.

        `silent`: the request wants no answer, only the prompt to be cached.
        """
        fault = request.fault
        if silent or (fault and fault.name in ("empty", "refusal")):
            return NOTHING
        if self._brain is not None:
            return self._brain(request)
        with self._lock:
            if not self._steps:
                words = f"request {request.number} ({request.provider}) came after the last step of the script"
                self._problems.append(words)
                raise RuleBroken(f"outlive simulator: {words}")
            if fault and fault.replaces_answer:
                return self._steps[0]
            self._played += 1
            return self._steps.popleft()

    def report(self, problem: str, cause: BaseException | None = None) -> None:
        """Remember a problem for `verify`."""
        with self._lock:
            self._problems.append(problem)
            self._cause = self._cause or cause

    def verify(self) -> None:
        """Raise AssertionError that names every problem and every step that was not played."""
        with self._lock:
            unused = [f"step {self._played + index}: {step}" for index, step in enumerate(self._steps, 1)]
            problems = [*self._problems, *(f"not played: {words}" for words in unused)]
        if problems:
            raise AssertionError(
                "the simulator's script was not followed:\n  " + "\n  ".join(problems)
            ) from self._cause
