"""The contract of `outlive task`, through real processes, on every engine."""

from pathlib import Path

import pytest

from outlive.config.home import trust
from tests.cli.command import Outlive
from tests.engines import Engine

KEYS = [
    "id",
    "subject",
    "description",
    "status",
    "blockedBy",
    "blocks",
    "owner",
    "dependsOn",
    "priority",
    "labels",
    "createdAt",
    "updatedAt",
    "completedAt",
    "lease",
    "revision",
    "result",
    "metadata",
    "version",
]


@pytest.fixture
def outlive(engine: Engine, tmp_path: Path) -> Outlive:
    return Outlive(tmp_path, engine.url)


@pytest.fixture
def here(tmp_path: Path) -> Outlive:
    return Outlive(tmp_path)


def test_a_graph_is_built_worked_off_and_drained(outlive: Outlive) -> None:
    first = outlive.task("create", "Write the parser", "--description", "by hand", "--json").json
    assert list(first) == KEYS
    assert (first["id"], first["status"], first["description"]) == (1, "pending", "by hand")
    second = outlive.task("create", "Test it", "--blocked-by", "1", "-l", "qa", "-p", "0", "--json").json
    assert second["blockedBy"] == [1]
    assert outlive.task("get", "1", "--json").json["blocks"] == [2]
    assert [task["id"] for task in outlive.task("ready", "--json").json] == [1]

    claimed = outlive.task("claim", "--owner", "ada", "--ttl", "10m", "--json").json
    assert (claimed["id"], claimed["status"], claimed["owner"]) == (1, "in_progress", "ada")
    token = str(claimed["lease"]["token"])
    assert outlive.task("heartbeat", "1", "--owner", "ada", "--token", token).code == 0
    done = outlive.task("complete", "1", "--owner", "ada", "--token", token, "--result", "merged", "--json").json
    assert (done["status"], done["result"], done["unblocked"]) == ("completed", "merged", [2])

    assert outlive.task("get", "2", "--json").json["blockedBy"] == []
    assert outlive.task("reopen", "1").code == 0
    assert outlive.task("get", "2", "--json").json["blockedBy"] == [1]
    assert outlive.task("cancel", "1", "--reason", "not needed", "--json").json["unblocked"] == [2]
    assert outlive.task("complete", "2").code == 0
    assert outlive.task("list", "--json").json == []
    assert [task["id"] for task in outlive.task("list", "--all", "--json", "--sort", "id").json] == [1, 2]
    assert [change["op"] for change in outlive.task("history", "2", "--json").json] == ["create", "complete"]
    assert len(outlive.task("archive", "--json").json) == 2
    assert outlive.task("list", "--all", "--json").json == []
    assert len(outlive.task("list", "--archived", "--json").json) == 2
    assert outlive.task("doctor").code == 0


def test_edges_change_from_both_sides(outlive: Outlive) -> None:
    for subject in ("a", "b", "c"):
        outlive.task("create", subject)
    updated = outlive.task("update", "2", "--add-blocked-by", "1", "--add-blocks", "3", "--json").json
    assert (updated["blockedBy"], updated["blocks"]) == ([1], [3])
    assert outlive.task("update", "2", "--remove-blocked-by", "1", "--json").json["blockedBy"] == []
    refused = outlive.task("update", "2", "--add-blocked-by", "3")
    assert refused.code == 1
    assert "2 -> 3 -> 2" in refused.err
    deleted = outlive.task("delete", "2")
    assert deleted.code == 1
    assert "task 3 depends on it" in deleted.err
    assert outlive.task("delete", "2", "--force").code == 0
    assert outlive.task("get", "2").code == 1


def test_a_batch_goes_in_whole_or_not_at_all(outlive: Outlive) -> None:
    plan = '[{"key": "a", "subject": "One"}, {"subject": "Two", "blockedBy": ["a"]}]'
    assert [task["blockedBy"] for task in outlive.task("create", "--batch", "-", "--json", stdin=plan).json] == [
        [],
        [1],
    ]
    broken = '{"subject": "Three"}\n{"subject": "Four", "blockedBy": [99]}'
    refused = outlive.task("create", "--batch", "-", stdin=broken)
    assert (refused.code, "99" in refused.err) == (1, True)
    assert len(outlive.task("list", "--json").json) == 2


def test_an_export_moves_a_graph_to_another_engine_and_back_without_loss(engine: Engine, tmp_path: Path) -> None:
    outlive = Outlive(tmp_path, engine.url)
    plan = '{"key": "a", "subject": "Ünë 😀", "labels": ["x"], "metadata": {"n": [1, null]}}\n'
    plan += '{"subject": "b", "blockedBy": ["a"]}'
    outlive.task("create", "--batch", "-", stdin=plan)
    outlive.task("create", "gone")
    outlive.task("delete", "3")
    outlive.task("claim", "1", "--owner", "ada")
    exported = outlive.task("export").out
    other = Outlive(tmp_path, f"sqlite:///{tmp_path}/other.db")
    third = Outlive(tmp_path, f"files:{tmp_path}/third")
    assert other.task("import", "-", stdin=exported).code == 0
    assert third.task("import", "-", stdin=other.task("export").out).code == 0
    tasks = [line for line in third.task("export").out.splitlines() if line.startswith('{"task"')]
    assert tasks == [line for line in exported.splitlines() if line.startswith('{"task"')]
    changes = [line for line in exported.splitlines() if line.startswith('{"change"')]
    assert set(changes) <= set(third.task("export").out.splitlines())
    assert third.task("create", "next", "--json").json["id"] == 4
    assert "already" in third.task("import", "-", stdin=exported).out
    assert third.task("doctor").code == 0


def test_an_import_with_clashing_ids_is_refused_unless_renumbered(here: Outlive) -> None:
    here.task("create", "mine")
    plain = '[{"id": 1, "subject": "theirs", "status": "pending", "blockedBy": [], "blocks": [], "owner": ""},'
    plain += '{"id": "2", "subject": "too", "status": "pending", "blockedBy": ["1"], "blocks": [], "owner": ""}]'
    refused = here.task("import", "-", stdin=plain)
    assert (refused.code, "--renumber" in refused.err) == (1, True)
    made = here.task("import", "-", "--renumber", "--json", stdin=plain).json
    assert [(task["id"], task["dependsOn"]) for task in made] == [(2, []), (3, [2])]


def test_a_folder_of_another_tool_is_imported(here: Outlive, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "1.json").write_text('{\n "id": "1",\n "subject": "a",\n "status": "completed", "blockedBy": []\n}')
    (folder / "2.json").write_text('{"id": "2", "subject": "b", "status": "pending", "blockedBy": ["1"]}')
    assert here.task("import", str(folder)).code == 0
    assert [task["id"] for task in here.task("ready", "--json").json] == [2]


@pytest.mark.parametrize(
    ("arguments", "names", "way_out"),
    [
        (["get", "99"], "99", "outlive task list"),
        (["create", "x", "--blocked-by", "Write the parser"], "'Write the parser'", 'mean 1 ("Write the parser")'),
        (["create", "   "], "subject is blank", "say in a few words"),
        (["create", "x" * 201], "201 characters", "description"),
        (["create", "two\nlines"], "one line", "description"),
        (["update", "1", "--add-blocked-by", "1"], "1 cannot depend on itself", "leave 1 out"),
        (["update", "1", "--status", "done"], "'done'", "pending, in_progress, completed, cancelled"),
        (["complete", "2"], "task 2: blocked by 1", "--remove-blocked-by"),
        (["claim", "2", "--owner", "me"], "task 2: blocked by 1", "claim those first"),
        (["complete", "1", "--token", "7"], "token 7 is stale", "look at the task"),
        (["delete", "1"], "task 2 depends on it", "cancel it instead"),
        (["release", "1"], "has no owner", "pending"),
        (["reopen", "1"], "it is pending", "cannot reopen"),
        (["create", "x", "--metadata", "{}", "--priority", "9"], "priority 9", "0 (most urgent) to 4"),
    ],
)
def test_a_refusal_names_the_thing_and_the_way_out(
    here: Outlive, arguments: list[str], names: str, way_out: str
) -> None:
    here.task("create", "Write the parser")
    here.task("create", "Test it", "--blocked-by", "1")
    refused = here.task(*arguments)
    assert refused.code == 1
    assert refused.out == ""
    assert names in refused.err
    assert way_out in refused.err
    assert "Traceback" not in refused.err
    assert [task["revision"] for task in here.task("list", "--all", "--json").json] == [1, 1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["create"],
        ["create", "x", "--batch", "-"],
        ["claim"],
        ["claim", "1", "--wait", "--owner", "me"],
        ["ready", "--limit", "0"],
        ["ready", "--timeout", "1s"],
        ["claim", "--owner", "me", "--ttl", "soon"],
        ["update", "1"],
        ["graph", "--unblocks"],
        ["list", "--status", "done"],
        ["nonsense"],
    ],
)
def test_wrong_usage_ends_with_2_and_touches_nothing(here: Outlive, tmp_path: Path, arguments: list[str]) -> None:
    result = here.task(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err
    assert not (tmp_path / ".tasks").exists()


def test_one_claimer_wins_and_the_other_is_told_who_holds_it(here: Outlive) -> None:
    here.task("create", "a")
    assert here.task("claim", "1", "--owner", "ada").code == 0
    for owner in ("bob", "ada"):
        refused = here.task("claim", "1", "--owner", owner)
        assert refused.code == 1
        assert "held by 'ada'" in refused.err
    refused = here.task("complete", "1", "--owner", "bob")
    assert (refused.code, "'ada'" in refused.err) == (1, True)
    assert "nothing is ready" in here.task("claim", "--owner", "bob").err
    assert here.task("complete", "1").code == 0


def test_the_owner_may_come_from_the_environment(here: Outlive) -> None:
    here.task("create", "a")
    assert here.task("claim", "--json", OUTLIVE_OWNER="ada").json["owner"] == "ada"
    assert here.task("history", "1", "--json", OUTLIVE_ACTOR="x").json[-1]["actor"] == "ada"


def test_a_list_keeps_to_its_budget_and_says_how_many_more(here: Outlive) -> None:
    plan = "\n".join(f'{{"subject": "A task with quite a long subject, number {i}"}}' for i in range(1000))
    here.task("create", "--batch", "-", stdin=plan)
    text = here.task("list").out
    assert len(text) < 15_000
    shown = text.count("quite a long")
    assert f"… and {1000 - shown:,} more" in text
    small = here.task("list", "--budget", "100").out
    assert small.count("\n") < 12
    assert here.task("list", "--budget", "0").out.count("quite a long") == 1000
    assert here.task("list", "--limit", "3").out.count("\n") == 3
    assert len(here.task("list", "--json").json) == 1000


def test_filters_of_list(here: Outlive) -> None:
    here.task("create", "Alpha", "-l", "docs", "--owner", "ada")
    here.task("create", "Beta", "--blocked-by", "1", "-d", "about ÄPFEL")
    assert [task["id"] for task in here.task("list", "--label", "docs", "--json").json] == [1]
    assert [task["id"] for task in here.task("list", "--owner", "ada", "--json").json] == [1]
    assert [task["id"] for task in here.task("list", "--blocked", "--json").json] == [2]
    assert [task["id"] for task in here.task("list", "--unblocked", "--json").json] == [1]
    assert [task["id"] for task in here.task("list", "--text", "äpfel", "--json").json] == [2]
    assert [task["id"] for task in here.task("list", "--sort", "id", "--reverse", "--json").json] == [2, 1]


@pytest.mark.parametrize("form", ["tree", "layers", "mermaid", "dot", "svg", "json"])
def test_the_graph_is_drawn_in_every_format(here: Outlive, tmp_path: Path, form: str) -> None:
    here.task("create", "Alpha")
    here.task("create", 'Beta <&> "quoted"', "--blocked-by", "1")
    drawn = here.task("graph", "--format", form)
    assert drawn.code == 0
    assert "Alpha" in drawn.out
    assert here.task("graph", "--format", form, "-o", "picture").code == 0
    assert "Alpha" in (tmp_path / "picture").read_text()


def test_parts_of_the_graph(here: Outlive) -> None:
    plan = [("a", []), ("b", ["a"]), ("c", ["b"]), ("d", ["a"]), ("e", [])]
    rows = [
        f'{{"key": "{key}", "subject": "{key}", "blockedBy": {before}}}'.replace("'", '"') for key, before in plan
    ]
    here.task("create", "--batch", "-", stdin="\n".join(rows))
    assert [task["id"] for task in here.task("graph", "3", "--json").json] == [3, 2, 1]
    assert [task["id"] for task in here.task("graph", "1", "--unblocks", "--json").json] == [1, 2, 4, 3]
    assert [task["id"] for task in here.task("graph", "--critical-path", "--json").json] == [1, 2, 3]
    assert here.task("graph", "--critical-path").out.splitlines()[0].startswith("1. ")


def test_a_damaged_file_is_named_and_the_rest_works_on(here: Outlive, tmp_path: Path) -> None:
    here.task("create", "whole")
    here.task("create", "damaged")
    path = tmp_path / ".tasks" / "task_2.json"
    path.write_bytes(path.read_bytes()[:40])
    listed = here.task("list", "--json")
    assert [task["id"] for task in listed.json] == [1]
    assert "task_2.json" in listed.err
    assert "task_2.json" in here.task("ready", "--json").err
    refused = here.task("update", "2", "--subject", "x")
    assert (refused.code, "task_2.json" in refused.err) == (1, True)
    assert here.task("create", "next", "--json").json["id"] == 3
    assert path.stat().st_size == 40
    sick = here.task("doctor")
    assert (sick.code, "task_2.json" in sick.out) == (1, True)
    assert "damaged/task_2.json" in here.task("doctor", "--repair").out
    assert (tmp_path / ".tasks/damaged/task_2.json").stat().st_size == 40
    assert here.task("list").err == ""


def test_doctor_names_a_record_that_the_audit_trail_knows_and_the_folder_lost(here: Outlive, tmp_path: Path) -> None:
    here.task("create", "a")
    (tmp_path / ".tasks" / "task_1.json").unlink()
    sick = here.task("doctor")
    assert sick.code == 1
    assert "task_1.json" in sick.out
    assert here.task("create", "b", "--json").json["id"] == 2


def test_the_workspace_is_found_from_a_folder_below(here: Outlive, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    assert Outlive(below).task("create", "from below").code == 0
    assert (tmp_path / ".tasks" / "task_1.json").exists()
    assert here("-C", str(below), "task", "list", "--json").json[0]["subject"] == "from below"


def trusting(here: Outlive, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user of `here` has trusted the outlive.toml of the folder."""
    home = folder / "home"
    here.environment["OUTLIVE_HOME"] = str(home)
    monkeypatch.setenv("OUTLIVE_HOME", str(home))
    trust(folder / "outlive.toml")


def test_the_store_is_chosen_by_option_then_environment_then_a_trusted_file(
    here: Outlive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outlive.toml").write_text('[store]\nurl = "sqlite:///from-file.db"\ndurability = "process"\n')
    trusting(here, tmp_path, monkeypatch)
    here.task("create", "in the file's store")
    here.task("create", "in the environment's", OUTLIVE_STORE="sqlite:///from-env.db")
    here.task("create", "in the option's", "--store", "sqlite:///from-option.db", OUTLIVE_STORE="sqlite:///x.db")
    assert sorted(path.name for path in tmp_path.glob("*.db")) == ["from-env.db", "from-file.db", "from-option.db"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[store", "outlive.toml"),
        ("[store]\nurl = 3\n", "url"),
        ('[shop]\nurl = ""\n', "'shop'"),
        ('[store]\ndurability = "none"\n', "full | process"),
        ('[store]\nurl = "mysql://x"\n', "'mysql'"),
        ('[store]\nurl = "sqlite://"\n', "names no file"),
    ],
)
def test_settings_that_cannot_be_used_are_named(
    here: Outlive, tmp_path: Path, text: str, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outlive.toml").write_text(text)
    trusting(here, tmp_path, monkeypatch)
    refused = here.task("list")
    assert refused.code == 1
    assert names in refused.err
    assert "Traceback" not in refused.err


def test_a_waiting_worker_wakes_when_something_becomes_ready(engine: Engine, tmp_path: Path) -> None:
    import subprocess
    import sys

    outlive = Outlive(tmp_path, engine.url)
    outlive.task("create", "first")
    outlive.task("create", "second", "--blocked-by", "1")
    outlive.task("claim", "1", "--owner", "ada")
    waiter = subprocess.Popen(
        [sys.executable, "-m", "outlive", "task", "claim", "--owner", "bob", "--wait", "--timeout", "60s", "--json"],
        cwd=tmp_path,
        env=outlive.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert outlive.task("complete", "1").code == 0
    out, _ = waiter.communicate()
    assert '"owner":"bob"' in out
    assert outlive.task("ready", "--wait", "--timeout", "0.1s", "--json").json == []


def test_priority_nought_empty_metadata_and_no_labels_can_be_set(here: Outlive) -> None:
    here.task("create", "a", "-l", "x", "--metadata", '{"a": 1}')
    assert here.task("update", "1", "-p", "0", "--json").json["priority"] == 0
    assert here.task("update", "1", "--metadata", "{}", "--json").json["metadata"] == {}
    assert here.task("update", "1", "--label", "", "--json").json["labels"] == []


def test_a_worker_that_missed_the_answer_may_complete_again(outlive: Outlive) -> None:
    outlive.task("create", "a")
    token = str(outlive.task("claim", "--owner", "ada", "--json").json["lease"]["token"])
    for _ in range(2):
        done = outlive.task("complete", "1", "--owner", "ada", "--token", token, "--result", "x", "--json").json
        assert (done["status"], done["revision"]) == ("completed", 3)
    refused = outlive.task("complete", "1", "--token", "99")
    assert (refused.code, "stale" in refused.err) == (1, True)


def test_an_import_may_depend_on_tasks_that_are_there(here: Outlive) -> None:
    for subject in ("a", "b"):
        here.task("create", subject)
    theirs = '{"tasks": [{"id": 2, "subject": "theirs", "blockedBy": [1]}]}'
    (made,) = here.task("import", "-", "--renumber", "--json", stdin=theirs).json
    assert (made["id"], made["dependsOn"]) == (3, [1])
    lost = here.task("import", "-", stdin='{"id": 20, "subject": "x", "blockedBy": [99]}')
    assert "99, which does not exist" in lost.err
    plan = here.task("import", "-", stdin='[{"subject": "no id"}]')
    assert (plan.code, "create --batch" in plan.err) == (1, True)


@pytest.mark.parametrize(
    ("plan", "place"),
    [
        ('[{"subject": "a"},\n {"subject": "b", "prio": 1}]', "item 2"),
        ('[{"subject": "a"},\n\n {"subject" "b"}]', "line 3"),
        ('{"subject": "a"}\n{"subject":', "line 2"),
        ('[{"subject": "a"}, {"subject": " "}]', "task 2 of the batch"),
        ('[{"key": "a", "subject": "a"}, {"subject": "b", "blockedBy": ["c"]}]', "keys of this batch are a"),
    ],
)
def test_an_error_in_a_batch_says_where(here: Outlive, plan: str, place: str) -> None:
    refused = here.task("create", "--batch", "-", stdin=plan)
    assert refused.code == 1
    assert place in refused.err
    assert here.task("list", "--json").json == []


def test_ready_keeps_to_a_budget_unless_told_how_many(here: Outlive) -> None:
    plan = "\n".join(f'{{"subject": "A task with quite a long subject, number {i}"}}' for i in range(600))
    here.task("create", "--batch", "-", stdin=plan)
    assert here.task("ready", "-n", "500").out.count("\n") == 500
    assert here.task("ready", "--budget", "0").out.count("\n") == 600
    short = here.task("ready", "--budget", "100").out
    assert f"… and {601 - short.count(chr(10))} more" in short
    listed = here.task("list", "--budget", "100").out
    assert f"… and {601 - listed.count(chr(10))} more" in listed


def test_the_ending_of_a_picture_tells_its_format_or_is_refused(here: Outlive, tmp_path: Path) -> None:
    here.task("create", "a")
    assert here.task("graph", "-o", "x.png").code == 2
    assert here.task("graph", "-o", "x.svg").code == 0
    assert (tmp_path / "x.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("arguments", [["list"], ["ready"], ["ready", "--json"], ["list", "--json"], ["graph"]])
@pytest.mark.parametrize("store", ["files:.tasks", "sqlite:///tasks.db"])
def test_a_look_makes_no_store(here: Outlive, tmp_path: Path, arguments: list[str], store: str) -> None:
    assert here.task(*arguments, "--store", store).code == 0
    assert list(tmp_path.iterdir()) == []


def test_waiting_for_a_task_ends_with_a_code_of_its_own(outlive: Outlive) -> None:
    waiting = ("claim", "--owner", "ada", "--wait", "--timeout", "0.05s")
    assert outlive.task(*waiting).code == 4, "no task was ever made"
    outlive.task("create", "one")
    outlive.task("create", "two", "--blocked-by", "1")
    outlive.task("claim", "1", "--owner", "bob")
    assert outlive.task(*waiting).code == 4
    outlive.task("complete", "1", "--owner", "bob")
    assert outlive.task(*waiting, "--label", "docs").code == 5, "nobody works on what is left, and it does not fit"
    outlive.task("complete", "2", "--force")
    finished = outlive.task("claim", "--owner", "ada", "--wait")
    assert (finished.code, "no open tasks are left" in finished.err) == (3, True)
    assert outlive.task("claim", "--owner", "ada").code == 1
