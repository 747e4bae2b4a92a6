"""Fixtures for all tests: the three engines, one of them with a real PostgreSQL server."""

import ctypes
import gc
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from outlive.tasks.graph import TaskGraph
from outlive.testing import Clock
from tests.engines import ENGINES, Engine, PostgresServer
from tests.sample import PART

pytest_plugins = ["pytester"]

MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 * 2**30:
    # Stores sync their files thousands of times here, and no test cuts the power: folders of tests need no disk.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# The last two are also registered where they are offered, which must not come after their first import.
pytest.register_assert_rewrite(
    "tests.model", "tests.truth", "outlive.testing.fleet_store", "outlive.testing.log_store"
)

settings.register_profile(
    "anywhere",
    deadline=None,  # how long an example takes says more about the machine than about the code
    derandomize=False,
    print_blob=True,
    suppress_health_check=[
        HealthCheck.too_slow,  # the same
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,  # examples that share a folder do so on purpose
    ],
)
settings.load_profile("anywhere")


MAX_PROCESS_BYTES = 2**30
"""Bytes that a process running tests may take up at most; the suite has to pass on a small machine."""
PEAKS = pytest.StashKey[dict[str, tuple[int, str]]]()
"""Of each process: its peak in bytes, and the test that raised it most."""


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


EMBEDDING = "outlive.memory.retrieval.dense.model"
_settled = 0
"""Bytes in use when memory was given back last."""


def give_back() -> None:
    """Return what was freed to the system, whenever a good deal more is in use: the next test need not pay for it."""
    global _settled
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only the C library of most Linux systems has it
    if trim is not None and memory_in_use() - _settled > 100 * 2**20:
        gc.collect()
        trim(0)
        _settled = memory_in_use()


def memory_in_use() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[PEAKS] = {"main": (0, "")}
    if not hasattr(config, "workerinput"):
        os.environ["MALLOC_ARENA_MAX"] = "2"  # for the workers: with an arena for each thread, freed memory stays
        # Hypothesis keeps its table of characters in a file; making it takes 200 MB, which no worker has to spare.
        made = "from hypothesis import strategies; strategies.text().example()"
        subprocess.run([sys.executable, "-W", "ignore", "-c", made], check=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    before = peak_memory()
    result = yield
    if (nextitem is None or nextitem.path != item.path) and (dense := sys.modules.get(EMBEDDING)):
        dense._held.clear()  # the model takes 250 MB, and the tests of another file seldom ask for it
    give_back()
    peaks = item.config.stash[PEAKS]
    peaks["main"] = max(peaks["main"], (peak_memory() - before, item.nodeid))
    return result


def pytest_testnodedown(node: Any) -> None:
    """A worker of xdist has ended: what it took up at most."""
    if "peak" in getattr(node, "workeroutput", {}):  # not there if it was killed
        node.config.stash[PEAKS][node.gateway.id] = tuple(node.workeroutput["peak"])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    peaks = session.config.stash[PEAKS]
    peaks["main"] = (peak_memory(), peaks["main"][1])
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["peak"] = peaks["main"]
    elif too_large(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def too_large(config: pytest.Config) -> bool:
    return max(peak for peak, _ in config.stash[PEAKS].values()) > MAX_PROCESS_BYTES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    verdict = f": MORE THAN {MAX_PROCESS_BYTES // 2**20} MB, which fails the run" if too_large(config) else ""
    terminalreporter.write_line(f"memory at its peak, and the test that took most of it{verdict}")
    for name, (peak, test) in sorted(config.stash[PEAKS].items()):
        terminalreporter.write_line(f"  {name} {peak / 2**20:.0f} MB {test}")
    terminalreporter.write_line(
        f"long tests took a third of what there is: OUTLIVE_TEST_PART={PART} (`all` takes all)"
    )


FOREIGN = re.compile(
    r"(OUTLIVE|ANTHROPIC|OPENAI|GIT|XDG|TMUX)(_|$)|MODEL_ID$|(NO|FORCE)_COLOR$|COLUMNS$|LINES$|.*_proxy$",
    re.IGNORECASE,
)
"""Variables of the machine that would change what a test sees."""


@pytest.fixture(scope="session", autouse=True)
def nothing_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No key, setting, home or model server of this machine reaches a test, or a process that a test starts."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in filter(FOREIGN.match, list(os.environ)):
            patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("OUTLIVE_HOME", str(home / ".outlive"))
        patch.setenv("OUTLIVE_LOCAL_MODELS", "off")
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for each process that runs tests."""
    try:
        server = PostgresServer()
    except Exception as error:  # noqa: BLE001 - whatever the reason, it is said and the rest is tested
        said = (getattr(error, "stderr", "") or "").strip()[-300:]
        pytest.skip(f"NO POSTGRESQL: no server can be started here ({error!r}) {said}")
    yield server
    server.stop()


def engine_params() -> list[object]:
    return [pytest.param(name, marks=pytest.mark.postgres) if name == "postgres" else name for name in ENGINES]


@pytest.fixture(params=engine_params())
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each of the three engines, with a place of its own."""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        with server.schema() as url:
            engine = Engine("postgres", url)
            yield engine
            engine.close()
        return
    url = f"files:{tmp_path / '.tasks'}" if request.param == "files" else f"sqlite:///{tmp_path / 'tasks.db'}"
    engine = Engine(request.param, url)
    yield engine
    engine.close()


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Engine]:
    engine = Engine("files", f"files:{tmp_path / '.tasks'}")
    yield engine
    engine.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Engine]:
    engine = Engine("sqlite", f"sqlite:///{tmp_path / 'tasks.db'}")
    yield engine
    engine.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def graph(engine: Engine, clock: Clock) -> TaskGraph:
    return engine.graph(clock)
