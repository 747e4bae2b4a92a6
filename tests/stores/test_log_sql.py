"""Session logs in SQL: who may write, and what happens to rows that were damaged."""

import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from outlive.stores import open_stores
from outlive.stores.logs import leases
from outlive.stores.logs.blobs import BLOB_MIN_CHARS
from outlive.stores.logs.protocol import SessionBusy, SessionTooLarge
from outlive.stores.logs.sql import SQLLogStore
from outlive.testing.log_store import note, result, started
from tests.engines import Engine, PostgresServer


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "sqlite":
        sqlite: Engine = request.getfixturevalue("sqlite")
        yield sqlite.url
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.schema() as place:
        yield place


@pytest.fixture
def logs(url: str) -> Iterator[SQLLogStore]:
    store = open_stores(url, durability="process").logs
    assert isinstance(store, SQLLogStore)
    yield store
    store.close()


def change(logs: SQLLogStore, statement: str, **values: object) -> None:
    logs.database.write(lambda connection: connection.run(statement, **values), landed=lambda _: False)


def test_a_writer_on_another_machine_is_waited_for(logs: SQLLogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(socket, "gethostname", lambda: "elsewhere")
        far = logs.create("s")
    far.append([started("s")])
    with pytest.raises(SessionBusy, match="on elsewhere"):
        logs.writer("s")
    monkeypatch.setattr(leases, "WRITER_TIMEOUT_SECONDS", 0.0)
    near = logs.writer("s")
    near.append([note(2)])
    with pytest.raises(SessionBusy, match="taken over"):
        far.append([note(2, "too late")])
    far.close()
    near.append([note(3)])
    assert [event.id for event in logs.read("s").events] == [1, 2, 3]


def test_a_writer_whose_process_is_gone_makes_way(logs: SQLLogStore) -> None:
    logs.create("s").append([started("s")])
    name = f"{socket.gethostname()} 4194399 abc"  # above the largest process number there can be
    change(logs, "UPDATE outlive_sessions SET writer = :name WHERE id = 's'", name=name)
    with logs.writer("s") as writer:
        writer.append([note(2)])
    assert [event.id for event in logs.read("s").events] == [1, 2]


def test_a_damaged_row_is_named_and_passed_over(logs: SQLLogStore) -> None:
    with logs.create("s") as writer:
        writer.append([started("s"), note(2), result(3, "x" * BLOB_MIN_CHARS), note(4)])
    change(logs, "UPDATE outlive_session_events SET body = :body WHERE id = 2", body=b"\x00junk")
    change(logs, "UPDATE outlive_blobs SET data = :data", data=b"other")
    log = logs.read("s")
    assert [event.id for event in log.events] == [1, 3, 4]
    assert "is lost" in log.events[1].text  # type: ignore[union-attr]
    assert "row 2" in str(log.damage[0])
    assert "outlive_blobs" in str(log.damage[1])
    assert logs.info("s").last_event == 4
    logs.put_blob(b"x" * BLOB_MIN_CHARS)
    assert len(logs.read("s").damage) == 1


def test_a_session_that_would_not_fit_into_memory_is_refused(
    logs: SQLLogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with logs.create("s") as writer:
        writer.append([started("s"), note(2, "x" * 5000)])
    monkeypatch.setattr("outlive.stores.logs.lines.MAX_LOG_BYTES", 4000)
    with pytest.raises(SessionTooLarge, match="'s' has"):
        logs.read("s")


def test_a_connection_that_is_gone_does_not_keep_a_writer_from_closing(logs: SQLLogStore) -> None:
    writer = logs.create("s")
    writer.append([started("s")])
    logs.close()
    writer.close()
    writer.close()
    with logs.writer("s") as again:
        again.append([note(2)])
    assert logs.info("s").last_event == 2


YEAR = 365 * 24 * 3600.0


@pytest.mark.parametrize("wrong_by", [YEAR, -YEAR])
def test_a_wrong_clock_does_not_take_a_session_from_another_machine(
    logs: SQLLogStore, wrong_by: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file system tells the time, or the server: all of them share it."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(socket, "gethostname", lambda: "elsewhere")
        far = logs.create("s")
    for module in ("stores.clock", "stores.sql.sqlite"):
        wrong = datetime.now(UTC) + timedelta(seconds=wrong_by)
        monkeypatch.setattr(f"outlive.{module}.machine_time", lambda wrong=wrong: wrong)
    with pytest.raises(SessionBusy, match="on elsewhere"):
        logs.writer("s")
    far.append([started("s")])
    far.close()


def test_a_writer_that_was_heard_in_the_future_is_gone() -> None:
    now = 1_800_000_000.0
    assert leases.is_alive("theirs 1 token", now - 5, now)
    assert leases.is_alive("theirs 1 token", now + 5, now)
    assert not leases.is_alive("theirs 1 token", now + YEAR, now)
    assert not leases.is_alive("theirs 1 token", now - YEAR, now)


def test_each_append_says_that_the_writer_is_still_there(logs: SQLLogStore) -> None:
    with logs.create("s") as writer:
        change(logs, "UPDATE outlive_sessions SET heard = 0")
        writer.append([started("s")])
        heard = logs.database.read(lambda connection: connection.rows("SELECT heard FROM outlive_sessions"))
    assert heard[0][0] > 0


def test_a_writer_of_another_user_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(process: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr("os.kill", refused)
    assert leases.is_alive(f"{socket.gethostname()} 1 token", 0.0, 1.0)
