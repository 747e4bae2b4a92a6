"""`outlive session` as a user has it."""

import asyncio
import json
from pathlib import Path

import pytest

from outlive import Agent
from outlive.agent import Session
from outlive.events import GoalSet, StateChanged, decode
from outlive.messages import Image, Text
from outlive.stores.logs.files import FileLogStore
from outlive.testing import ScriptedModel, call, say
from tests.cli.command import Outlive
from tests.talk import Ticks, step, talk


@pytest.fixture
def outlive(tmp_path: Path) -> Outlive:
    store = FileLogStore(tmp_path, durability="process")
    with Session.start(store, id="work", window=12_000, clock=Ticks()) as session:
        session.log(GoalSet, goal="a tidy garden")
        assert talk(session, 40) >= 2
    return Outlive(tmp_path)


def ids(outlive: Outlive) -> list[str]:
    return [info["id"] for info in outlive("session", "list", "--json").json]


def test_list(outlive: Outlive) -> None:
    (info,) = outlive("session", "list", "--json").json
    assert (info["id"], info["title"]) == ("work", "Please go through part 0. Never touch generated_0.py.")
    assert "work" in outlive("session", "list").out


def test_an_empty_folder_has_no_sessions(tmp_path: Path) -> None:
    result = Outlive(tmp_path)("session", "list")
    assert (result.code, result.out, result.err.strip()) == (0, "", "no sessions")
    assert list(tmp_path.iterdir()) == []


def test_show(outlive: Outlive) -> None:
    text = outlive("session", "show", "work").out
    assert "Goal: a tidy garden" in text
    assert "Never touch generated_0.py." in text
    form = outlive("session", "show", "work", "--json").json
    assert form["state"]["goal"] == "a tidy garden"
    assert form["passes"] >= 2
    events = outlive("session", "show", "work", "--events", "--json").json
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert len(outlive("session", "show", "work", "--events").out.splitlines()) == len(events)


def test_show_tells_what_is_kept_and_noted(outlive: Outlive) -> None:
    with Session.resume(FileLogStore(outlive.folder), "work") as session:
        session.log(StateChanged, scratchpad="port 8412", preserved_refs=("call_2",))
    text = outlive("session", "show", "work").out
    assert "Scratchpad: port 8412" in text
    assert "kept whole: read_file src/module_2.py  @h" in text
    (kept,) = outlive("session", "show", "work", "--json").json["kept"]
    assert (kept["ref"], kept["what"]) == ("call_2", "read_file src/module_2.py")
    assert kept["tokens"] > 1000


def test_the_beginning_of_a_name_is_enough(outlive: Outlive) -> None:
    assert outlive("session", "show", "wo").out == outlive("session", "show", "work").out
    outlive("session", "fork", "work", "--name", "wonder")
    assert outlive("session", "show", "wo").code == 2
    assert outlive("session", "show", "work").code == 0
    assert outlive("recall", "@h1", "--session", "wor").code == 0
    assert outlive("session", "show", "nobody").code == 1


def test_receipts(outlive: Outlive) -> None:
    receipts = outlive("session", "receipts", "work", "--json").json
    assert len(receipts) >= 2
    for receipt in receipts:
        assert receipt["after"] < receipt["before"]
        assert receipt["handles"]
        assert receipt["undone"] is False
    assert "→" in outlive("session", "receipts", "work").out


def test_receipts_tell_what_left_and_how_to_get_it_back(outlive: Outlive) -> None:
    receipts = outlive("session", "receipts", "work", "--json").json
    folded = [unit for receipt in receipts for unit in receipt["left"] if unit["how"] == "folded"]
    assert len({unit["unit"] for unit in folded}) == len(folded)  # each leaves once
    assert "read_file src/module_0.py" in [unit["what"] for unit in folded]
    for receipt in receipts:
        known = {f"@h{number}" for number in receipt["handles"]}
        assert receipt["left"]
        assert sum(unit["how"] == "folded" for unit in receipt["left"]) <= receipt["units_folded"]
        for unit in receipt["left"]:
            assert unit["handles"]
            assert known.issuperset(unit["handles"])
            assert unit["after"] < unit["before"]
    one = next(unit for unit in folded if unit["what"] == "read_file src/module_0.py")
    pages = "".join(outlive("recall", name, "--session", "work").out for name in one["handles"])
    assert "def handler_0_119(request_119)" in pages
    assert "folded event" in outlive("session", "receipts", "work").out
    whole = outlive("session", "receipts", "work", "--all").out
    assert all(unit["what"] in whole for unit in folded)


def test_receipts_split_what_stands_around_the_history(tmp_path: Path) -> None:
    tools = ({"name": "read", "description": "d" * 3200},)
    store = FileLogStore(tmp_path, durability="process")
    with Session.start(store, id="s", system="s" * 6400, tools=tools, window=40_000, clock=Ticks()) as session:
        session.log(GoalSet, goal="g" * 1600)
        assert talk(session, 40) >= 1
    assert "more (--all)" in Outlive(tmp_path)("session", "receipts", "s").out
    for receipt in Outlive(tmp_path)("session", "receipts", "s", "--json").json:
        for kinds in (receipt["kinds_before"], receipt["kinds_after"]):
            assert kinds["system"] == 2000
            assert 1000 < kinds["tools"] < 1100
            assert 500 < kinds["state"] < 1000
        assert sum(receipt["kinds_after"].values()) == pytest.approx(receipt["after"], rel=0.05)


def test_receipts_after_everything_was_taken_back(outlive: Outlive) -> None:
    before = outlive("session", "receipts", "work", "--json").json
    outlive("session", "undo", "work")
    outlive("session", "undo", "work", "--to", "5")
    after = outlive("session", "receipts", "work", "--json").json
    assert [receipt["left"] for receipt in after] == [receipt["left"] for receipt in before]


def test_fork(outlive: Outlive) -> None:
    info = outlive("session", "fork", "work", "--at", "20", "--name", "other", "--json").json
    assert (info["id"], info["forked_from"]) == ("other", "work")
    assert info["last_event"] > 20, "a fork adds an event of its own"
    name = outlive("session", "fork", "work").out.strip()
    assert set(ids(outlive)) == {"work", "other", name}
    assert outlive("session", "show", "other").out.startswith("other")
    assert outlive("session", "fork", "work", "--at", "9999").code == 1
    assert outlive("session", "fork", "work", "--name", "other").code == 1
    log = outlive.folder / ".transcripts" / "other.jsonl"
    assert len(log.read_bytes().splitlines()) == 1


def test_undo(outlive: Outlive) -> None:
    last = outlive("session", "receipts", "work", "--json").json[-1]["event"]
    undone = outlive("session", "undo", "work", "--json").json
    assert undone["target"] == last
    assert outlive("session", "receipts", "work", "--json").json[-1]["undone"] is True
    assert "took back everything after event 5" in outlive("session", "undo", "work", "--to", "5").out
    refused = outlive("session", "undo", "work")
    assert refused.code == 1
    assert "no pass" in refused.err


def test_export(outlive: Outlive) -> None:
    lines = outlive("session", "export", "work").out.splitlines()
    assert [decode(line.encode()).id for line in lines] == list(range(1, len(lines) + 1))
    path = outlive.folder / "out.jsonl"
    outlive("session", "export", "work", "-o", str(path))
    assert path.read_text().splitlines() == lines
    assert not any(json.loads(line).get("blob") for line in lines)


def test_a_large_paste_is_exported_recalled_found_forked_and_replayed(outlive: Outlive) -> None:
    paste = "\n".join(f"row {n}: the purple_lighthouse_{n} blinks" for n in range(1500))
    store = FileLogStore(outlive.folder, durability="process")
    with Session.resume(store, "work", window=12_000, clock=Ticks(2_000_000.0)) as session:
        session.user_said((Text(paste), Image(data="aGFsbG8=" * 4000)))
    lines = outlive("session", "export", "work").out.splitlines()
    blocks = json.loads(lines[-1])["blocks"]
    assert blocks[0]["text"] == paste
    assert blocks[1]["data"] == "aGFsbG8=" * 4000
    assert paste not in (outlive.folder / ".transcripts" / "work.jsonl").read_text()
    found = outlive("recall", "--session", "work", "--search", "purple_lighthouse_777", "--json").json
    text = outlive("recall", found[0]["handle"], "--session", "work").out
    assert "row 777: the purple_lighthouse_777 blinks" in text
    outlive("session", "fork", "work", "--name", "twin")
    assert json.loads(outlive("session", "export", "twin").out.splitlines()[-2])["blocks"] == blocks
    copied = outlive.folder / "copy.jsonl"
    copied.write_bytes((outlive.folder / ".transcripts" / "work.jsonl").read_bytes())
    result = outlive("replay", str(copied), "--window", "12000")
    assert "kept elsewhere; replay an export instead" in result.err


def test_a_damaged_log_is_named_and_shown_as_far_as_it_goes(outlive: Outlive) -> None:
    path = outlive.folder / ".transcripts" / "work.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[4] = b"\x00 not json"
    path.write_bytes(b"\n".join(lines))
    result = outlive("session", "show", "work")
    assert result.code == 0
    assert f"{path}, line 5: not an event" in result.err
    assert "a tidy garden" in result.out


def test_a_session_open_elsewhere_is_not_touched(outlive: Outlive) -> None:
    with Session.resume(FileLogStore(outlive.folder), "work") as session:
        refused = outlive("session", "undo", "work")
        assert refused.code == 1
        assert "open in another process" in refused.err
        assert outlive("session", "show", "work").code == 0
        step(session, 99)


def test_other_stores(tmp_path: Path) -> None:
    outlive = Outlive(tmp_path, "sqlite:///s.db")
    assert outlive("session", "list", "--json").json == []
    assert outlive("session", "show", "nobody").code == 1


@pytest.mark.parametrize("command", ["", "list", "show", "receipts", "fork", "undo", "export"])
def test_every_help_has_an_example(outlive: Outlive, command: str) -> None:
    result = outlive("session", *filter(None, [command]), "--help")
    assert result.code == 0
    assert "Examples:\n    outlive session" in result.out


def test_commands_load_nothing_they_do_not_need(outlive: Outlive) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from outlive.cli.app import cli; cli(['session','list'], standalone_mode=False); "
        "bad = {'pydantic','rich','requests','httpx','sqlite3','psycopg','asyncio'} & set(sys.modules); "
        "sys.exit(str(bad) if bad else 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=outlive.folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.fixture
def worked(tmp_path: Path) -> Outlive:
    """A session in which an agent changed a file and made another."""
    (tmp_path / "beds.txt").write_text("roses\n")
    command = call("bash", command="echo weeds > beds.txt; echo x > new.txt")

    async def work() -> None:
        model = ScriptedModel([say("hello"), command, say("done")])
        async with Agent(tmp_path, model=model, mode="bypass") as agent:
            await agent.run("Say hello.")
            await agent.run("Weed the beds.")

    asyncio.run(work())
    return Outlive(tmp_path)


def test_rewind(worked: Outlive) -> None:
    (session,) = ids(worked)
    second, first = worked("session", "rewind", session, "--json").json
    assert [second["text"], first["text"]] == ["Weed the beds.", "Say hello."]
    assert second["files"] == first["files"] == ["beds.txt", "new.txt"]
    assert "Weed the beds. · 2 files changed since" in worked("session", "rewind", session).out
    went = worked("session", "rewind", session, "--to", str(second["event"]))
    assert went.out.splitlines() == [
        "the conversation is as before 'Weed the beds.'",
        "restored beds.txt",
        "deleted new.txt",
    ]
    assert (worked.folder / "beds.txt").read_text() == "roses\n"
    assert not (worked.folder / "new.txt").exists()
    assert [point["text"] for point in worked("session", "rewind", session, "--json").json] == ["Say hello."]
    assert worked("session", "rewind", session, "--revert").out.splitlines() == [
        "restored beds.txt",
        "restored new.txt",
    ]
    assert (worked.folder / "beds.txt").read_text() == "weeds\n"


def test_rewind_of_files_alone_and_of_the_conversation_alone(worked: Outlive) -> None:
    (session,) = ids(worked)
    second = str(worked("session", "rewind", session, "--json").json[0]["event"])
    files = worked("session", "rewind", session, "--to", second, "--files", "--json").json
    assert (files["conversation"], files["files"]["written"], files["files"]["deleted"]) == (
        False,
        ["beds.txt"],
        ["new.txt"],
    )
    assert worked("session", "rewind", session, "--to", second, "--conversation").out.splitlines() == [
        "the conversation is as before 'Weed the beds.'",
    ]
    refused = worked("session", "rewind", session, "--to", second)
    assert (refused.code, "is no message of the user" in refused.err) == (1, True)
    assert worked("session", "rewind", session, "--revert", "--files").code == 2
