"""The schema grows by migrations: from nothing, once, by the first process, whole or not at all."""

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from outlive.errors import FutureVersion, StoreError
from outlive.stores.sql import migrations
from outlive.stores.tasks import sql_quick
from outlive.tasks.graph import TaskGraph
from tests.engines import Engine, PostgresServer
from tests.processes import at_once
from tests.truth import assert_sound


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        with server.schema() as url:
            engine = Engine("postgres", url)
            yield engine
            engine.close()
        return
    engine = Engine("sqlite", f"sqlite:///{tmp_path / 'tasks.db'}")
    yield engine
    engine.close()


def run(engine: Engine, statement: str) -> list[tuple[object, ...]]:
    """Around outlive, straight at the database."""
    if engine.name == "postgres":
        with psycopg.connect(engine.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []
    raw = sqlite3.connect(engine.path, isolation_level=None)
    try:
        return raw.execute(statement).fetchall()
    finally:
        raw.close()


def tables(engine: Engine) -> set[object]:
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'outlive%'",
        "postgres": "SELECT tablename FROM pg_tables WHERE schemaname = current_schema",
    }[engine.name]
    return {name for (name,) in run(engine, query)}


def applied(engine: Engine) -> list[object]:
    return [name for (name,) in run(engine, "SELECT name FROM outlive_migrations ORDER BY name")]


NAMES = [name for name, _ in migrations.MIGRATIONS]


def test_a_new_database_gets_the_whole_schema(database: Engine) -> None:
    database.graph().create("one")
    assert applied(database) == NAMES
    assert {"outlive_tasks", "outlive_task_edges", "outlive_task_labels", "outlive_task_changes"} <= tables(database)


def test_opening_again_changes_nothing(database: Engine) -> None:
    database.graph().create("one")
    before = run(database, "SELECT name, applied_at FROM outlive_migrations")
    for _ in range(3):
        assert database.graph().count() == 1
    assert run(database, "SELECT name, applied_at FROM outlive_migrations") == before


def test_eight_processes_open_a_new_database_at_once(database: Engine) -> None:
    made = at_once(database.url, [("first_open", f"process {index}") for index in range(8)])
    assert sorted(number for (number,) in made) == list(range(1, 9))
    assert applied(database) == NAMES
    assert_sound(database.open())


def test_a_database_of_a_newer_outlive_is_refused_and_left_alone(database: Engine) -> None:
    database.graph().create("one")
    run(
        database,
        "INSERT INTO outlive_migrations (name, applied_at) VALUES ('9999_future', '2040-01-01T00:00:00+00:00')",
    )
    graph = database.graph()
    for act in (graph.count, lambda: graph.create("two"), graph.doctor, graph.store.repair):
        with pytest.raises(FutureVersion, match=r"9999_future.*upgrade outlive"):
            act()
    assert run(database, "SELECT count(*) FROM outlive_tasks") == [(1,)]


def test_a_migration_that_fails_leaves_nothing_behind(database: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    database.graph().create("one")
    broken = ("9998_broken", ("CREATE TABLE outlive_half (id ID PRIMARY KEY)", "CREATE NONSENSE"))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, broken))
    graph = database.graph()
    for _ in range(2):
        with pytest.raises(StoreError, match="Nothing was changed"):
            graph.count()
    monkeypatch.undo()
    assert "outlive_half" not in tables(database)
    assert applied(database) == NAMES
    assert database.graph().get(1).subject == "one"


def test_a_first_migration_that_fails_leaves_an_empty_database(
    database: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name, statements), *rest = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", ((name, (*statements, "CREATE NONSENSE")), *rest))
    with pytest.raises(StoreError):
        database.graph().create("one")
    assert tables(database) == set()
    monkeypatch.undo()
    assert database.graph().create("one").id == 1


def test_a_later_migration_is_applied_to_a_database_in_use(database: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    old = database.graph()
    old.create("one")
    later = ("9998_later", ("CREATE TABLE outlive_later (id ID PRIMARY KEY, at MOMENT)",))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, later))
    assert database.graph().get(1).subject == "one"
    assert "outlive_later" in tables(database)
    assert applied(database) == [*NAMES, "9998_later"]
    old.create("two")
    assert database.graph().count() == 2


def test_released_migrations_are_never_edited() -> None:
    """Their text, as it was released. Add a new one instead of changing this."""
    digests = {
        name: hashlib.sha256("\n".join(" ".join(s.split()) for s in statements).encode()).hexdigest()[:16]
        for name, statements in migrations.MIGRATIONS
    }
    assert digests == {
        "0001_tasks": "5521538ee44c7341",
        "0002_sessions": "216aad4339296a37",
        "0003_memories": "ecc3eb504e8dff94",
        "0004_memory_changes": "69844eb67dbd42ae",
        "0005_memory_token": "1205fa52861ca741",
        "0006_fleet": "f9a7834cd1ed57fa",
        "0007_session_lease": "9dc2648e486aa61e",
        "0008_fleet_changes": "7287551cf85cdeec",
    }


def test_miscounted_dependencies_are_found_and_mended(database: Engine) -> None:
    graph = database.graph()
    graph.create("one")
    graph.create("two", blocked_by=[1])
    run(database, "UPDATE outlive_tasks SET blockers = 5 WHERE id = 2")
    (problem,) = graph.doctor()
    assert (problem.task, problem.repairable, problem.harmless) == (2, True, False)
    assert graph.store.repair() == ["recounted the unfinished dependencies of task 2"]
    assert graph.doctor() == []
    graph.complete(1)
    assert [task.id for task in graph.ready()] == [2]


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes, not a database. " * 50)
    before = path.read_bytes()
    graph = TaskGraph(Engine("sqlite", f"sqlite:///{path}").open())
    for act in (graph.count, lambda: graph.create("x"), graph.doctor):
        with pytest.raises(StoreError, match=r"notes\.txt: the file is not a SQLite database"):
            act()
    assert path.read_bytes() == before


def test_a_damaged_database_says_so(sqlite: Engine) -> None:
    graph = sqlite.graph()
    for index in range(200):
        graph.create(f"task {index}", description="x" * 500)
    sqlite.close()
    raw = bytearray(sqlite.path.read_bytes())
    raw[4096 * 3 : 4096 * 12] = bytes(4096 * 9)
    sqlite.path.write_bytes(raw)
    assert "damaged" in diagnosis(sqlite.graph()) or "malformed" in diagnosis(sqlite.graph())


def diagnosis(graph: TaskGraph) -> str:
    try:
        return " ".join(problem.what for problem in graph.doctor() if not problem.harmless) and "damaged"
    except StoreError as error:
        return str(error)


def test_the_quick_statement_was_written_for_the_schema_of_today() -> None:
    assert tuple(NAMES) == sql_quick.SCHEMA
