"""Runs the tests of some files once, then for each mutant those that reach its line, in a fork that has the mutant.

Nothing is imported again: in the fork the code of the changed function is replaced in place, so a mutant costs no
more than its tests. Processes that a test starts do not have the mutant.
"""

import gc
import os
import select
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import SetupState

from bench.mutation.mutants import Mutant

Told = Callable[[Path, Mutant, str, str], None]
"""Takes the verdict on a mutant (killed, hung, survived, unreached) and the test that killed it."""


class Forking:
    """A plugin of pytest that judges mutants instead of reporting on tests."""

    def __init__(self, mutants: Sequence[tuple[Path, Mutant]], budget: float, told: Told) -> None:
        self._mutants = mutants
        self._files = {str(path) for path, _ in mutants}
        self._budget = budget
        self._told = told
        self._failed = ""
        self._seconds: dict[pytest.Item, float] = {}
        self._reached: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed = self._failed or report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = session.items
        for number, item in enumerate(items):
            # Never without a next item: fixtures of the session, such as a server, live on for the forks.
            self._trace(item, items[(number + 1) % len(items)])
            if self._failed:
                raise pytest.UsageError(f"{self._failed} fails before anything was changed")
        for path, mutant in self._mutants:
            self._told(path, mutant, *self._judged(session._setupstate, str(path), mutant))
        return True

    def _trace(self, item: pytest.Item, after: pytest.Item) -> None:
        """Run a test, noting the lines that it reaches."""
        seen: set[tuple[str, int]] = set()

        def enter(frame: FrameType, event: str, about: object) -> Any:
            name = frame.f_code.co_filename
            if name not in self._files:
                return None

            def line(frame: FrameType, event: str, about: object) -> Any:
                seen.add((name, frame.f_lineno))
                return line

            return line

        started = time.perf_counter()
        threading.settrace(enter)
        sys.settrace(enter)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        finally:
            sys.settrace(None)
            threading.settrace(None)
        self._seconds[item] = time.perf_counter() - started
        for place in seen:
            self._reached[place].append(item)

    def _tests(self, file: str, line: int) -> list[pytest.Item]:
        """The tests that reach a line, or one before it in a long statement; quickest first, within the budget."""
        near = next((n for n in range(line, max(line - 8, 0), -1) if (file, n) in self._reached), 0)
        found: list[pytest.Item] = []
        left = self._budget
        for item in sorted(self._reached.get((file, near), ()), key=self._seconds.__getitem__):
            left -= self._seconds[item]
            if found and left < 0:
                break
            found.append(item)
        return found

    def _judged(self, state: SetupState, file: str, mutant: Mutant) -> tuple[str, str]:
        tests = self._tests(file, mutant.line)
        if not tests:
            return "unreached", ""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.setsid()
            replace_code(file, mutant)
            self._run(state, tests, writing)
        os.close(writing)
        patience = 60 + 10 * sum(self._seconds[item] for item in tests)
        try:
            if not select.select([reading], [], [], patience)[0]:
                return "hung", ""
            said = os.read(reading, 10_000).decode()
            return ("survived", f"({len(tests)} tests)") if said == "passed" else ("killed", said)
        finally:
            os.close(reading)
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def _run(self, state: SetupState, tests: Sequence[pytest.Item], writing: int) -> None:
        """In the fork: all tests until one fails; never returns."""
        verdict = "died"
        try:
            # Its collectors only: where it is the one test there is, it is still set up, and would meet what it left.
            state.teardown_exact(tests[0].parent)  # type: ignore[arg-type]
            for number, item in enumerate(tests):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=tests[(number + 1) % len(tests)])
                if self._failed:
                    break
            verdict = self._failed or "passed"
        finally:
            os.write(writing, verdict.encode())
            os._exit(0)


def replace_code(file: str, mutant: Mutant) -> None:
    """Give every function of a file the code that it has in the mutant."""
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes(compile(mutant.tree, file, "exec"))}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == file:
            code = codes.get((thing.__code__.co_qualname, thing.__code__.co_firstlineno))
            if code is not None and code.co_freevars == thing.__code__.co_freevars:
                thing.__code__ = code


def _codes(code: CodeType) -> list[CodeType]:
    return [code, *(inner for one in code.co_consts if isinstance(one, CodeType) for inner in _codes(one))]
