"""Where a session is kept: not where a stranger's file or link says, and out of reach of tools and other users."""

import stat
from pathlib import Path

import pytest

from outlive.testing import Simulator, call, say
from tests.e2e.conftest import Client
from tests.e2e.test_attacks import on_a_terminal

URLS = ("files:src/tasks", "sqlite:///src/work.db", "files:../elsewhere/tasks", "postgresql://u@127.0.0.1:1/x")
COMMANDS = (
    ("task", "ready", "--json"),
    ("task", "ready", "--json", "--limit", "3"),
    ("task", "list"),
    ("task", "create", "x"),
    ("session", "list"),
    ("memory", "list"),
    ("memory", "add", "The tests need Python 3.11."),
    ("recall", "@h1"),
    ("-p", "x"),
    ("-p", "x", "--continue"),
)


def everything(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.parent.rglob("*") if "home" not in path.parts)


@pytest.mark.parametrize("url", URLS)
def test_a_file_that_is_not_trusted_chooses_no_store(folder: Path, url: str) -> None:
    (folder / "outlive.toml").write_text(f'[store]\nurl = "{url}"\n')
    before = everything(folder)
    with Simulator([]) as sim:
        client = Client(folder, sim)
        for command in COMMANDS:
            refused = client(*command)
            assert (refused.code, refused.out) == (1, ""), command
            for words in (str(folder / "outlive.toml"), url, "outlive trust", "--store", "OUTLIVE_STORE"):
                assert words in refused.err, command
        assert sim.requests == []
        assert client("where", "--json").json["store"]["problem"]
        named = client("task", "ready", "--json", OUTLIVE_STORE="files:.tasks")
        assert (named.json, client("task", "ready", "--json", "--store", "files:.tasks").json) == ([], [])
    assert everything(folder) == before


def test_the_usual_store_needs_no_trust(folder: Path) -> None:
    (folder / "outlive.toml").write_text('[store]\nurl = "files:.tasks"\n')
    with Simulator([]) as sim:
        assert Client(folder, sim)("task", "create", "x", "--json").json["id"] == 1


@pytest.mark.parametrize(
    ("url", "paths"),
    [
        ("files:src/tasks", ("src/tasks/task_1.json", "src/.transcripts/x.jsonl", "src/.MEMORY/x.md")),
        ("files:src/tasks", ("src/.task_outputs/x.txt", ".transcripts/x.jsonl", "outlive.toml", ".memory/x.md")),
        ("sqlite:///src/work.db", ("src/work.db", "src/work.db-wal", "src/work.db-shm", "src/work.db-journal")),
    ],
)
def test_no_tool_edits_a_store_wherever_it_is(folder: Path, url: str, paths: tuple[str, ...]) -> None:
    (folder / "src").mkdir()
    (folder / "outlive.toml").write_text(f'[store]\nurl = "{url}"\n')
    writes = [call("write_file", path=path, content="forged") for path in paths]
    with Simulator([*writes, call("write_file", path="src/a.py", content="x"), say("ok")]) as sim:
        client = Client(folder, sim)
        assert "src" in on_a_terminal(client, "trust", typed="y\n")
        assert client("-p", "x", "--permission-mode", "bypass").code == 0
        results = [request.last_results()[0] for request in sim.requests[1:]]
    for result in results[:-1]:
        assert "belongs to outlive itself" in result.text
    assert not results[-1].is_error
    assert "forged" not in "".join(
        path.read_text("utf-8", "replace")
        for path in folder.rglob("*.*")
        if path.is_file() and "transcripts" not in str(path) and ".db" not in path.name
    )


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (".tasks", ("task", "ready", "--json")),
        (".tasks", ("task", "create", "x")),
        (".transcripts", ("session", "list")),
        (".transcripts", ("-p", "x")),
        (".task_outputs", ("-p", "x")),
        (".memory", ("memory", "list")),
        (".memory", ("memory", "add", "The tests need Python 3.11.")),
    ],
)
def test_a_link_as_a_store_is_refused(folder: Path, name: str, command: tuple[str, ...]) -> None:
    target = folder.parent / "target"
    target.mkdir()
    (folder / name).symlink_to(target)
    with Simulator([]) as sim:
        refused = Client(folder, sim)(*command)
        assert sim.requests == []
    assert (refused.code, refused.out) == (1, "")
    assert f"{folder / name}: is a symbolic link" in refused.err
    assert list(target.iterdir()) == []


def test_a_link_as_a_database_is_refused(folder: Path) -> None:
    (folder / "tasks.db").symlink_to(folder.parent / "target.db")
    with Simulator([]) as sim:
        for command in (("task", "create", "x"), ("task", "ready", "--json")):
            refused = Client(folder, sim)(*command, OUTLIVE_STORE="sqlite:///tasks.db")
            assert refused.code == 1
            assert "is a symbolic link" in refused.err
    assert not (folder.parent / "target.db").exists()


def wide(folder: Path) -> list[str]:
    """What others than the owner may reach, by the rights of each file and folder itself."""
    found = [path for path in folder.rglob("*") if path.name != "data.txt"]
    return [str(path.relative_to(folder)) for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.mark.parametrize("store", ["files:.tasks", "sqlite:///tasks.db"])
def test_what_is_kept_is_for_its_owner_alone_even_if_a_clone_brought_it_wider(folder: Path, store: str) -> None:
    steps = [call("bash", command="seq 200000"), say("ok")]
    with Simulator([*steps, *steps]) as sim:
        client = Client(folder, sim)
        client.environment["OUTLIVE_STORE"] = store

        def work(*more: str) -> None:
            assert client("task", "create", "x").code == 0
            assert client("task", "list").code == 0
            assert client("memory", "add", f"The tests need {7 + len(more)} servers.").code == 0
            assert client("-p", "x", "--allow", "bash", *more).code == 0

        work()
        assert (wide(folder), wide(folder.parent / "home")) == ([], [])
        assert stat.S_IMODE((folder.parent / "home").stat().st_mode) == 0o700
        kept = [path for path in folder.rglob("*") if path.name != "data.txt"]
        for path in kept:
            path.chmod(0o777 if path.is_dir() else 0o666)
        work("--continue")
    left = wide(folder)
    assert [name for name in left if (folder / name).is_dir() and ".local/" not in name] == []
    assert [name for name in left if name.endswith((".json", ".jsonl", ".md", ".db"))] == []
    assert len(kept) > 5
