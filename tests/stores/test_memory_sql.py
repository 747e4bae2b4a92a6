"""Memories in a database: what is changed past outlive is noticed, and what was there before counts."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace

from outlive.memory.memories import Memories
from outlive.stores.memories.records import encode_memory
from outlive.stores.sql import migrations
from outlive.stores.sql.database import Database
from outlive.stores.sql.postgres import PostgresDatabase
from outlive.stores.sql.sqlite import SQLiteDatabase
from tests.engines import Engine, PostgresServer


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        with server.schema() as url:
            yield Engine("postgres", url)
        return
    yield Engine("sqlite", f"sqlite:///{tmp_path / 'tasks.db'}")


@pytest.fixture
def memories(database: Engine, tmp_path: Path) -> Iterator[Memories]:
    with closing(Memories.open(database.url, home=tmp_path / "home", durability="process")) as book:
        book.add("one", "the first thing")
        book.add("two", "the second thing")
        yield book


def run(engine: Engine, statement: str, **values: object) -> None:
    """Straight at the database, as a person would, or an outlive from before there was a clock."""
    if engine.name == "postgres":
        for name in values:
            statement = statement.replace(f":{name}", f"%({name})s")
        # Another client may have another search path.
        schema = engine.url.rpartition("%3D")[2]
        with psycopg.connect(engine.url.partition("&options")[0], autocommit=True) as connection:
            connection.execute(statement.replace("outlive_", f"{schema}.outlive_").encode(), values)
        return
    with closing(sqlite3.connect(engine.path, isolation_level=None)) as raw:
        raw.execute(statement, values)


def bodies(memories: Memories) -> dict[str, str]:
    return {memory.slug: memory.body for memory in memories.all()}


def test_a_row_that_somebody_changes_is_noticed(database: Engine, memories: Memories) -> None:
    form = encode_memory(replace(memories.get("one"), body="the edited thing"))
    assert bodies(memories) == {"one": "the first thing", "two": "the second thing"}
    run(database, "UPDATE outlive_memories SET form = :form WHERE slug = 'one'", form=form)
    assert bodies(memories)["one"] == "the edited thing"
    memories.add("three", "the third thing")
    assert bodies(memories)["one"] == "the edited thing"


def test_a_row_that_somebody_puts_in_is_noticed(database: Engine, memories: Memories) -> None:
    assert len(bodies(memories)) == 2
    form = encode_memory(replace(memories.get("one"), slug="three", name="three", body="by hand"))
    run(database, "INSERT INTO outlive_memories (slug, archived, form) VALUES ('three', 0, :form)", form=form)
    assert bodies(memories)["three"] == "by hand"
    assert memories.add("three!", "a third thing").slug == "three-2"
    run(database, "UPDATE outlive_memories SET archived = 1 WHERE slug = 'three'")
    assert "three" not in bodies(memories)


def test_rows_that_somebody_takes_out_are_noticed(database: Engine, memories: Memories) -> None:
    assert len(bodies(memories)) == 2
    run(database, "DELETE FROM outlive_memories WHERE slug = 'one'")
    assert bodies(memories) == {"two": "the second thing"}
    assert memories.add("one", "again").slug == "one"
    run(database, "DELETE FROM outlive_memories")
    assert bodies(memories) == {}


def test_a_memory_that_another_process_sets_apart_is_gone(
    database: Engine, memories: Memories, tmp_path: Path
) -> None:
    assert bodies(memories).keys() == {"one", "two"}
    with closing(Memories.open(database.url, home=tmp_path / "home", durability="process")) as other:
        other.stores["project"].set_apart("one")
    assert bodies(memories).keys() == {"two"}


def test_memories_from_before_the_clock_are_read(
    database: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:3])
    with closing(opened(database)) as before:
        migrations.bring_up_to_date(before)
    monkeypatch.undo()
    with closing(Memories.open(base=tmp_path / "elsewhere", home=tmp_path / "home")) as elsewhere:
        made = elsewhere.add("old", "from before")
    for slug in ("old", "older"):
        form = encode_memory(replace(made, slug=slug, name=slug))
        run(
            database,
            "INSERT INTO outlive_memories (slug, archived, form) VALUES (:slug, 0, :form)",
            slug=slug,
            form=form,
        )
    with closing(Memories.open(database.url, home=tmp_path / "home")) as memories:
        assert sorted(bodies(memories)) == ["old", "older"]
        memories.add("new", "after it")
        assert sorted(bodies(memories)) == ["new", "old", "older"]


def opened(engine: Engine) -> Database:
    return PostgresDatabase(engine.url) if engine.name == "postgres" else SQLiteDatabase(engine.path)


def test_a_row_of_a_newer_outlive_is_named_and_stays(database: Engine, memories: Memories) -> None:
    form = encode_memory(memories.get("one")).replace(b'"version":1', b'"version":99')
    run(database, "UPDATE outlive_memories SET form = :form WHERE slug = 'one'", form=form)
    store = memories.stores["project"]
    (problem,) = store.check()
    assert "upgrade outlive" in problem.remedy
    assert (store.repair(), store.check()) == ([], [problem])
