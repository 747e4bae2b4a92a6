"""What can go wrong around a store: a full disk, missing permissions, a lost connection. A clear error or none,
and the store unchanged or changed as asked, never in between."""

import json
import logging
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from outlive.errors import StoreError, StoreUnavailable
from outlive.stores.sql import postgres as engine_postgres
from outlive.stores.tasks.protocol import TaskQuery, TaskWriter
from outlive.stores.tasks.records import Task
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from outlive.testing.tasks.support import a_task, change_of, everything
from tests.engines import Engine, PostgresServer
from tests.truth import assert_files_tell_the_truth, assert_sound

ALL = TaskQuery(archived=True, sort="id")


# -- disk full ---------------------------------------------------------------------------------------------


class TinyDisk:
    def __init__(self, path: Path, size: str, options: str = "") -> None:
        self.path = path
        path.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}{options}", "tmpfs", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            pytest.skip(f"CANNOT MOUNT a tiny disk to fill it up ({error})")
        if done.returncode:
            pytest.skip(f"CANNOT MOUNT a tiny disk to fill it up ({done.stderr.strip()})")

    def fill(self, leaving: int = 0) -> None:
        """Use up the space, all but so many pages."""
        self.empty()
        with (self.path / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
            while ballast.write(bytes(4096)):
                pass
        size = (self.path / "ballast").stat().st_size
        os.truncate(self.path / "ballast", max(0, size - leaving * 4096))

    def empty(self) -> None:
        (self.path / "ballast").unlink(missing_ok=True)

    def remount(self, mode: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{mode}", str(self.path)], check=True)

    def unmount(self) -> None:
        subprocess.run(["umount", "-l", str(self.path)], check=False)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can get at. No temporary path is one: each pytest that starts closes their folder."""
    folder = Path(tempfile.mkdtemp(prefix="outlive-public-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[TinyDisk]:
    disk = TinyDisk(tmp_path / "disk", "1m")
    yield disk
    disk.unmount()


@pytest.fixture(params=["files", "sqlite"])
def on_tiny_disk(request: pytest.FixtureRequest, tiny_disk: TinyDisk) -> Iterator[Engine]:
    url = f"files:{tiny_disk.path}/.tasks" if request.param == "files" else f"sqlite:///{tiny_disk.path}/tasks.db"
    engine = Engine(request.param, url, durability="full")
    yield engine
    engine.close()


CHANGES: dict[str, Callable[[TaskGraph], object]] = {
    "create": lambda graph: graph.create("new", description="x" * 9000, blocked_by=[1]),
    "create many": lambda graph: graph.create_many(
        [TaskDraft(subject="new", description="x" * 3000) for _ in range(4)]
    ),
    "complete": lambda graph: graph.complete(1, result="x" * 9000),
    "delete": lambda graph: graph.delete(2, force=True),
    "archive": lambda graph: graph.archive(),
}


def refusal(act: Callable[[TaskGraph], object], graph: TaskGraph) -> str | None:
    try:
        act(graph)
    except StoreUnavailable as error:
        return str(error)
    return None


@pytest.mark.parametrize("change", CHANGES)
def test_a_full_disk_is_a_clear_error_and_changes_nothing(
    change: str, on_tiny_disk: Engine, tiny_disk: TinyDisk
) -> None:
    graph = on_tiny_disk.graph()
    graph.create("one")
    graph.create("two", blocked_by=[1])
    graph.create("three", blocked_by=[2])
    graph.complete(graph.create("four").id)
    act = CHANGES[change]
    refused = 0
    for leaving in range(12):
        before = everything(graph.store)
        tiny_disk.fill(leaving)
        error = refusal(act, graph)
        if error is not None:
            refused += 1
            assert "the disk is full" in error
            assert "Nothing was changed" in error
            assert everything(graph.store) == before, f"with {leaving} pages left"
            fresh = on_tiny_disk.open()
            assert everything(fresh) == before
            assert_sound(fresh)
            assert [problem for problem in graph.doctor() if not problem.harmless] == []
            tiny_disk.empty()
        else:
            break
    assert refused, "the disk was never full; nothing was tried"
    tiny_disk.empty()
    graph.create("room again")
    assert_sound(graph.store)
    assert_sound(on_tiny_disk.open())
    if on_tiny_disk.name == "files":
        assert graph.doctor() == [], "not a trace of what was refused"
        assert_files_tell_the_truth(on_tiny_disk.path)


def test_a_store_can_be_read_on_a_full_disk(on_tiny_disk: Engine, tiny_disk: TinyDisk) -> None:
    graph = on_tiny_disk.graph()
    graph.create_many([TaskDraft(subject=f"task {index}") for index in range(40)])
    tiny_disk.fill()
    assert len(graph.find()) == 40
    assert len(on_tiny_disk.graph().ready()) == 40


@pytest.mark.postgres
def test_a_full_tablespace_is_a_clear_error_and_changes_nothing(postgres: PostgresServer, public: Path) -> None:
    user = pwd.getpwnam("pgserver") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    disk = TinyDisk(public / "space", "1m", f",uid={user.pw_uid},gid={user.pw_gid},mode=0700")
    try:
        postgres.run(f"CREATE TABLESPACE tiny LOCATION '{disk.path}'")
        with postgres.schema() as url, closing(Engine("postgres", f"{url}%20-cdefault_tablespace%3Dtiny")) as engine:
            graph = engine.graph()
            made, error = 0, None
            while error is None:
                error = refusal(lambda graph: graph.create("large", description=os.urandom(4000).hex()), graph)
                made += error is None
            assert "No space left on device" in error
            assert "Nothing was changed" in error
            assert made > 5
            tasks = graph.find(ALL)
            assert len(tasks) == made
            assert_sound(graph.store)
            assert_sound(engine.open())
    finally:
        with suppress(psycopg.Error):
            postgres.run("DROP TABLESPACE IF EXISTS tiny")
        disk.unmount()


# -- permissions -------------------------------------------------------------------------------------------


def test_a_read_only_disk_can_be_read_and_says_why_it_cannot_be_written(
    on_tiny_disk: Engine, tiny_disk: TinyDisk
) -> None:
    graph = on_tiny_disk.graph()
    graph.create("one")
    before = everything(graph.store)
    on_tiny_disk.close()
    tiny_disk.remount("ro")
    try:
        graph = on_tiny_disk.graph()
        if on_tiny_disk.name == "files":
            assert everything(graph.store) == before
        # SQLite cannot open a database in WAL mode where it may not make its shared memory file.
        reason = "read-only" if on_tiny_disk.name == "files" else "tasks.db: the file cannot be opened"
        for act in CHANGES["create"], CHANGES["create many"], CHANGES["complete"]:
            with pytest.raises(StoreUnavailable, match=f"{reason}.*Nothing was changed"):
                act(graph)
        on_tiny_disk.close()
    finally:
        tiny_disk.remount("rw")
    assert everything(on_tiny_disk.open()) == before
    assert on_tiny_disk.graph().create("two").id == 2


AS_NOBODY = """
import json, os, sys
import filelock, sqlite3, getpass
from outlive.errors import OutliveError
from outlive.stores import open_stores
import outlive.stores.tasks.files.store, outlive.stores.tasks.sql, outlive.stores.sql.sqlite
import outlive.tasks.drawing.marks
from outlive.tasks.graph import TaskGraph
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
graph = TaskGraph(open_stores(sys.argv[1]).tasks, actor="nobody")
results = {}
for name, act in {
    "find": lambda: [task.subject for task in graph.find()],
    "create": lambda: graph.create("x").id,
    "complete": lambda: graph.complete(1).task.id,
    "doctor": lambda: [problem.what for problem in graph.doctor()],
    "repair": lambda: graph.store.repair(),
}.items():
    try:
        results[name] = act()
    except OutliveError as error:
        results[name] = f"{type(error).__name__}: {error}"
print(json.dumps(results))
"""


def as_nobody(url: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", AS_NOBODY, url], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


@contextmanager
def modes(root: Path, *, folders: int, files: int) -> Iterator[None]:
    """Set the modes below a folder, and give them back afterwards."""
    paths = [root, *root.rglob("*")] if root.is_dir() else [root.parent, root, *root.parent.glob("*.db-*")]
    old = {path: path.stat().st_mode for path in paths}
    for path in sorted(paths, reverse=True):
        path.chmod(folders if path.is_dir() else files)
    try:
        yield
    finally:
        for path in sorted(paths):
            path.chmod(old[path])


@pytest.fixture(params=["files", "sqlite"])
def shared(request: pytest.FixtureRequest, public: Path) -> Iterator[Engine]:
    """A store in a folder that everybody can get at."""
    (public / "place").mkdir()
    name = ".tasks" if request.param == "files" else "tasks.db"
    scheme = "files:" if request.param == "files" else "sqlite:///"
    engine = Engine(request.param, f"{scheme}{public / 'place' / name}")
    engine.graph().create("one")
    engine.close()
    yield engine
    engine.close()


def test_without_permission_to_write_reading_works_and_writing_says_why(shared: Engine) -> None:
    before = everything(shared.open())
    shared.close()
    with modes(shared.path, folders=0o555, files=0o444):
        results = as_nobody(shared.url)
    if shared.name == "files":
        assert results["find"] == ["one"]
        assert results["doctor"] == []
        reason = "permission denied"
    else:
        # SQLite cannot even read a database in WAL mode where it may not make its shared memory file.
        assert results["find"] == ["one"] or results["find"].startswith("StoreUnavailable: ")
        reason = "read-only"
    for name in ("create", "complete"):
        assert results[name].startswith("StoreUnavailable: ")
        assert str(shared.path) in results[name]
        assert reason in results[name] or "cannot be opened" in results[name]
        assert "Nothing was changed" in results[name]
    assert everything(shared.open()) == before


def test_without_permission_to_read_every_question_says_why(shared: Engine) -> None:
    with modes(shared.path, folders=0o700, files=0o600):
        results = as_nobody(shared.url)
    for name, result in results.items():
        assert isinstance(result, str), name
        assert result.startswith("StoreUnavailable: "), f"{name}: {result}"
        assert str(shared.path) in result
    assert shared.graph().get(1).subject == "one"


@pytest.mark.parametrize("shared", ["files"], indirect=True)
def test_one_file_without_permission_is_set_apart_and_the_rest_works(shared: Engine) -> None:
    shared.graph().create("two")
    with modes(shared.path, folders=0o755, files=0o644):
        (shared.path / "task_1.json").chmod(0o600)
        results = as_nobody(shared.url)
    assert results["find"] == ["two"]
    assert any("cannot be read (Permission denied)" in what for what in results["doctor"])


def test_a_folder_that_does_not_exist_is_a_clear_error(tmp_path: Path) -> None:
    graph = TaskGraph(Engine("sqlite", f"sqlite:///{tmp_path / 'missing' / 'tasks.db'}").open())
    with pytest.raises(StoreUnavailable, match=r"the folder .*missing does not exist"):
        graph.create("x")
    assert not (tmp_path / "missing").exists()


# -- PostgreSQL: the connection is lost --------------------------------------------------------------------


@pytest.fixture
def pg(postgres: PostgresServer) -> Iterator[Engine]:
    with postgres.schema() as url:
        engine = Engine("postgres", url)
        yield engine
        engine.close()


def cut(server: PostgresServer) -> int:
    """End all connections of outlive, as an administrator would; says how many there were."""
    return len(
        server.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'outlive' AND pid <> pg_backend_pid()"
        )
    )


@pytest.mark.postgres
def test_a_connection_lost_while_idle_is_opened_again_and_said(
    pg: Engine, postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    graph = pg.graph()
    graph.create("one")
    assert cut(postgres) == 1
    with caplog.at_level(logging.WARNING, "outlive.stores"):
        assert graph.create("two").id == 2
        assert cut(postgres) == 1
        assert len(graph.find()) == 2
    assert [record.message for record in caplog.records if "lost" in record.message]
    assert_sound(graph.store)


@pytest.mark.postgres
def test_a_connection_lost_in_the_midst_of_a_change_means_the_change_is_done_once(
    pg: Engine, postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    store = pg.open()
    tries = []

    def work(tx: TaskWriter) -> int:
        number = tx.new_ids(1)[0]
        tx.put(a_task(number), change_of(a_task(number)))
        tries.append(number)
        if len(tries) == 1:
            cut(postgres)
        tx.put(a_task(number, revision=2, subject="again"), change_of(a_task(number, revision=2), "update"))
        return number

    with caplog.at_level(logging.WARNING, "outlive.stores"):
        made = store.write(work)
    assert len(tries) == 2
    assert [task.id for task in store.read(lambda tx: tx.find(ALL))] == [made]
    assert any("lost" in record.message and "opening it again" in record.message for record in caplog.records)
    assert_sound(store)


@pytest.mark.postgres
def test_a_change_that_the_server_refuses_at_the_commit_leaves_nothing_behind(pg: Engine) -> None:
    store = pg.open()

    def twice(tx: TaskWriter) -> None:
        for task in map(a_task, tx.new_ids(2)):
            tx.put(task, replace(change_of(task), id="the same"))

    with pytest.raises(StoreError, match="Nothing was changed"):
        store.write(twice)
    assert store.read(lambda tx: tx.find(ALL)) == []
    assert [task.subject for task in (pg.graph().create("next"), *pg.graph().find())] == ["next", "next"]
    assert_sound(store)


@pytest.mark.postgres
def test_the_last_completion_wakes_those_who_wait_for_the_end(pg: Engine) -> None:
    graph = pg.graph()
    first, last = (graph.create(name).id for name in ("first", "last"))
    graph.complete(first)
    with pg.open().watch() as watch:
        graph.complete(last)
        assert watch.wait(60)


@pytest.mark.postgres
def test_a_connection_lost_while_waiting_is_opened_again_and_the_wait_goes_on(
    pg: Engine, postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    waiting, other = pg.graph(), pg.graph()
    other.count()
    found: list[Task] = []
    with caplog.at_level(logging.WARNING, "outlive.stores"):
        waiter = threading.Thread(target=lambda: found.extend(waiting.wait_ready(timeout=300)))
        waiter.start()
        listens = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'outlive' AND query LIKE 'LISTEN%'"
        while not postgres.run(listens):
            time.sleep(0.005)
        cut(postgres)
        other.create("at last")
        waiter.join(300)
    assert [task.subject for task in found] == ["at last"]
    assert any("lost while waiting" in record.message for record in caplog.records)


@pytest.mark.postgres
def test_a_restart_of_the_server_is_survived(caplog: pytest.LogCaptureFixture) -> None:
    try:
        server = PostgresServer()
    except Exception as error:  # noqa: BLE001 - whatever the reason, it is said
        pytest.skip(f"NO POSTGRESQL: no server can be started here ({error!r})")
    try:
        with server.schema() as url:
            engine = Engine("postgres", url)
            graph = engine.graph()
            graph.create("before")
            stopped, restart = threading.Event(), threading.Event()

            def restarting() -> None:
                server.server.stop()
                stopped.set()
                assert restart.wait(300)
                server.server.ensure_postgres_running()

            def first_said(record: logging.LogRecord) -> bool:
                restart.set()
                return True

            thread = threading.Thread(target=restarting)
            thread.start()
            assert stopped.wait(300)
            with caplog.at_level(logging.WARNING, "outlive.stores"):
                caplog.handler.addFilter(first_said)
                assert graph.create("after").id == 2
            thread.join(300)
            assert any("trying again" in record.message for record in caplog.records)
            assert [task.subject for task in graph.find()] == ["before", "after"]
            engine.close()
    finally:
        server.stop()


@pytest.mark.postgres
def test_a_server_that_does_not_come_back_is_a_clear_error(
    pg: Engine, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_postgres, "RECONNECT_SECONDS", 0.3)
    with Proxy(postgres, tmp_path) as proxy:
        engine = Engine("postgres", proxy.url(pg.url))
        graph = engine.graph()
        graph.create("one")
        proxy.refuse()
        with pytest.raises(StoreUnavailable, match=r"cannot connect.*Nothing was changed"):
            graph.create("two")
        engine.close()
    assert [task.subject for task in pg.graph().find()] == ["one"]


@pytest.mark.postgres
def test_no_server_at_all_is_a_clear_error_at_once_and_does_not_tell_the_password(tmp_path: Path) -> None:
    store = Engine("postgres", f"postgresql://ann:secret@/none?host={tmp_path}").open()
    with pytest.raises(StoreUnavailable, match="cannot connect") as caught:
        TaskGraph(store).find()
    assert "secret" not in str(caught.value)
    assert "secret" not in store.url


@pytest.mark.postgres
def test_a_role_without_rights_is_a_clear_error(pg: Engine, postgres: PostgresServer) -> None:
    pg.graph().create("one")
    with suppress(psycopg.Error):
        postgres.run("CREATE ROLE guest LOGIN")
    guest = Engine("postgres", pg.url.replace("//postgres:@", "//guest@"))
    with pytest.raises(StoreError, match="Nothing was changed"):
        guest.graph().create("two")
    guest.close()
    assert [task.subject for task in pg.graph().find()] == ["one"]


class Proxy:
    """Stands between client and server, and can cut the line at the moment of a commit."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self._server = str(server.socket_folder / ".s.PGSQL.5432")
        self._folder = folder
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._real = server.socket_folder
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self.armed: str | None = None
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, url: str) -> str:
        return url.replace(str(self._real), str(self._folder))

    def refuse(self) -> None:
        """From now on there is no server."""
        self._listener.close()
        (self._folder / ".s.PGSQL.5432").unlink()
        for pair in self._pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._pairs.append((client, server))
                threading.Thread(target=self._pump, args=(client, server, self._outgoing), daemon=True).start()
                threading.Thread(target=self._pump, args=(server, client, None), daemon=True).start()

    def _pump(
        self,
        source: socket.socket,
        target: socket.socket,
        look: Callable[[bytes, socket.socket, socket.socket], bool] | None,
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if look and look(data, source, target):
                    return
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _outgoing(self, data: bytes, client: socket.socket, server: socket.socket) -> bool:
        if self.armed is None or b"COMMIT" not in data:
            return False
        how, self.armed = self.armed, None
        self.cuts += 1
        if how == "before":
            server.shutdown(socket.SHUT_RDWR)
            client.shutdown(socket.SHUT_RDWR)
        elif how == "after":
            client.shutdown(socket.SHUT_RDWR)
            server.sendall(data)
            time.sleep(0.2)
            server.shutdown(socket.SHUT_RDWR)
        else:
            # The client is gone, but the commit is still on its way for a while.
            client.shutdown(socket.SHUT_RDWR)
            time.sleep(0.7)
            server.sendall(data)
            time.sleep(0.2)
            server.shutdown(socket.SHUT_RDWR)
        return True

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.refuse()
        for pair in self._pairs:
            for end in pair:
                end.close()


@pytest.mark.postgres
@pytest.mark.parametrize("how", ["before", "after", "late"])
def test_a_commit_in_doubt_takes_effect_exactly_once(
    how: str, pg: Engine, postgres: PostgresServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The line is cut at the moment of the commit: before it arrived, after it arrived, or long before it does."""
    with Proxy(postgres, tmp_path) as proxy:
        engine = Engine("postgres", proxy.url(pg.url))
        blocker = engine.graph().create("blocker").id
        acts: list[Callable[[TaskGraph], object]] = [
            lambda graph: graph.create("once", blocked_by=[blocker]),
            lambda graph: graph.claim(blocker, owner="ann"),
            lambda graph: graph.complete(blocker),
        ]
        with caplog.at_level(logging.WARNING, "outlive.stores"):
            for act in acts:
                graph = engine.graph()
                graph.count()
                proxy.armed = how
                act(graph)
                assert proxy.armed is None, "the line was not cut; nothing was tried"
        assert proxy.cuts == 3
        engine.close()
    graph = pg.graph()
    assert sorted(task.subject for task in graph.find(ALL)) == ["blocker", "once"]
    assert [change.op for change in graph.history(blocker)] == ["create", "claim", "complete"]
    assert len(graph.history()) == 4
    assert sum("lost during a commit" in record.message for record in caplog.records) == 3
    assert_sound(graph.store)


# -- PostgreSQL: writers that meet -------------------------------------------------------------------------


@pytest.mark.postgres
def test_deleting_by_force_beside_a_search_for_cycles_lets_no_cycle_through(
    pg: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1 <- 2 <- 3 <- 4. One makes 1 depend on 4; while it looks for a cycle, another deletes 2 by force."""
    graph, other = pg.graph(), pg.graph()
    for number in range(1, 5):
        graph.create(f"task {number}", blocked_by=[number - 1] if number > 1 else [])
    from outlive.tasks import shape

    find_path = shape.find_path
    threads: list[threading.Thread] = []

    def slow(start: int, goal: int, neighbours: Callable[[Any], Any]) -> Any:
        def looked(frontier: Any) -> Any:
            if list(frontier) == [2] and not threads:
                threads.append(threading.Thread(target=lambda: other.delete(2, force=True)))
                threads[0].start()
                threads[0].join(1)
            return neighbours(frontier)

        return find_path(start, goal, looked)

    monkeypatch.setattr(shape, "find_path", slow)
    with pytest.raises(Exception, match="cycle"):
        graph.update(1, add_blocked_by=[4])
    threads[0].join(300)
    assert not threads[0].is_alive()
    monkeypatch.undo()
    assert graph.doctor() == []
    assert graph.get(3).depends_on == (1,)


@pytest.mark.postgres
def test_a_claim_does_not_wait_for_one_who_is_just_taking_another_task(pg: Engine) -> None:
    graph = pg.graph()
    first, second = graph.create("first").id, graph.create("second").id
    taking, finish = threading.Event(), threading.Event()
    store = pg.open()

    def slowly(tx: TaskWriter) -> int | None:
        task = tx.pick()
        taking.set()
        assert finish.wait(300)
        return task.id if task else None

    picked: list[int | None] = []
    thread = threading.Thread(target=lambda: picked.append(store.write(slowly)))
    thread.start()
    assert taking.wait(300)
    try:
        assert graph.claim(owner="ann").id == second
    finally:
        finish.set()
        thread.join()
    assert picked == [first]
