"""Output that cannot be written: one plain line, an exit code of its own, and the truth about what was changed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.agent import Session
from outlive.cli.echo import write_lines
from outlive.cli.output import EXIT_CODE
from outlive.events import UserSaid
from outlive.messages import Text
from outlive.stores import open_stores
from outlive.stores.tasks.protocol import TaskQuery
from tests.cli.command import Outlive

FULL = "No space left on device"


class Ended:
    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code, self.out, self.err = code, out.decode(), err.decode()


@pytest.fixture
def outlive(tmp_path: Path) -> Outlive:
    return Outlive(tmp_path)


def run(outlive: Outlive, redirection: str, *words: str) -> Ended:
    """Through a shell, which redirects: `> /dev/full`, `>&-`, `| true`."""
    code = "; exit ${PIPESTATUS[0]}" if "|" in redirection else ""
    script = f'"$0" -m outlive "$@" {redirection}{code}'
    process = subprocess.run(
        ["bash", "-c", script, sys.executable, *words],
        cwd=outlive.folder,
        env=outlive.environment,
        capture_output=True,
        check=False,
    )
    return Ended(process.returncode, process.stdout, process.stderr)


def assert_said(ended: Ended, what: str, reason: str = FULL) -> None:
    lines = ended.err.splitlines()
    assert (ended.code, len(lines)) == (EXIT_CODE, 1), ended.err
    assert lines[0] == f"outlive: {what}; the output could not be written to standard output: {reason}"


@pytest.mark.parametrize(
    ("redirection", "reason"),
    [("> /dev/full", FULL), (">&-", "Bad file descriptor")],
)
def test_a_task_that_was_created_is_said_to_be_created(outlive: Outlive, redirection: str, reason: str) -> None:
    assert_said(run(outlive, redirection, "task", "create", "one"), "task 1 was created", reason)
    assert outlive.task("get", "1", "--json").json["subject"] == "one"


def test_a_pipe_that_nobody_reads_is_told_too(outlive: Outlive) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        process = subprocess.run(
            [sys.executable, "-m", "outlive", "task", "create", "one"],
            cwd=outlive.folder,
            env=outlive.environment,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert_said(Ended(process.returncode, b"", process.stderr), "task 1 was created", "Broken pipe")
    assert outlive.task("get", "1", "--json").json["subject"] == "one"


@pytest.mark.parametrize(
    "words",
    [
        ("task", "list"),
        ("task", "list", "--json"),
        ("task", "ready", "--json"),
        ("task", "graph"),
        ("task", "doctor"),
        ("task", "export"),
        ("memory", "list", "--all"),
        ("memory", "log"),
        ("session", "list", "--json"),
        ("session", "export", "s"),
        ("--help",),
    ],
)
def test_a_look_that_cannot_be_printed_changed_nothing(outlive: Outlive, words: tuple[str, ...]) -> None:
    outlive.task("create", "one")
    outlive("memory", "add", "one", "about one")
    with open_stores(base=outlive.folder).logs.create("s") as writer:
        writer.append([UserSaid(id=1, time=1.0, blocks=(Text("x"),))])
    assert_said(run(outlive, "> /dev/full", *words), "nothing was changed")


def test_every_change_is_told_and_made(outlive: Outlive) -> None:
    plan = outlive.folder / "plan.json"
    plan.write_text('[{"subject": "one"}, {"subject": "two"}]')
    for words, what in (
        (("task", "create", "--batch", "plan.json"), "2 tasks were created: 1, 2"),
        (("task", "create", "three", "-q"), "task 3 was created"),
        (("task", "update", "1", "--subject", "eins", "--json"), "task 1 was updated"),
        (("task", "claim", "1", "--owner", "ann"), "task 1 was claimed"),
        (("task", "complete", "1", "--json"), "task 1 was completed"),
        (("task", "archive"), "1 tasks were archived"),
        (("memory", "add", "one", "about one"), "remembered one"),
        (("memory", "forget", "one", "--yes"), "forgot one"),
        (("memory", "undo"), "step 2 was taken back"),
    ):
        assert_said(run(outlive, "> /dev/full", *words), what)
    found = open_stores(base=outlive.folder).tasks.read(lambda tx: tx.find(TaskQuery(archived=True, sort="id")))
    assert [(task.subject, task.status) for task in found] == [
        ("eins", "completed"),
        ("two", "pending"),
        ("three", "pending"),
    ]
    memories = open_stores(base=outlive.folder).memories.read(lambda tx: tx.all())
    assert [memory.slug for memory in memories] == ["one"]


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_ready_tells_which_expired_leases_it_gave_back(outlive: Outlive, json: tuple[str, ...]) -> None:
    outlive.task("create", "one")
    outlive.task("claim", "1", "--owner", "ann", "--ttl", "0.01s")
    assert_said(run(outlive, "> /dev/full", "task", "ready", *json), "leases that had expired were given back: 1")
    assert outlive.task("get", "1", "--json").json["status"] == "pending"


@pytest.mark.parametrize("redirection", ["2> /dev/full", "2>&-", "2>&- <&-"])
def test_what_cannot_be_said_on_stderr_changes_nothing_else(outlive: Outlive, redirection: str) -> None:
    assert run(outlive, redirection, "task", "create", "one").code == 0
    (outlive.folder / ".tasks/task_2.json").write_text("{broken")
    ended = run(outlive, redirection, "task", "list")
    assert (ended.code, ended.out) == (0, "○ 1 one\n")
    assert run(outlive, redirection, "task", "get", "77").code == 1
    assert run(outlive, redirection, "task", "nonsense").code == 2


def test_with_all_streams_closed_no_file_is_printed_into(outlive: Outlive) -> None:
    outlive.environment["OUTLIVE_STORE"] = "sqlite:///tasks.db"
    assert run(outlive, ">&- 2>&- <&-", "task", "create", "one").code == EXIT_CODE
    assert outlive.task("list").out == "○ 1 one\n"
    assert outlive.task("doctor").code == 0


def test_a_reader_that_had_enough_ends_a_long_list(outlive: Outlive) -> None:
    (outlive.folder / ".tasks").mkdir()
    for number in range(1, 3001):
        (outlive.folder / f".tasks/task_{number}.json").write_text(f'{{"id": {number}, "subject": "{"x" * 100}"}}')
    ended = run(outlive, "| head -1", "task", "list", "--budget", "0")
    assert_said(ended, "nothing was changed", os.strerror(32))
    assert ended.out.count("\n") == 1


@pytest.mark.parametrize("command", ["task export -o", "task graph -o", "memory export -o", "session export s -o"])
def test_a_device_or_pipe_is_written_to_and_a_link_followed_but_neither_is_replaced(
    tmp_path: Path, command: str
) -> None:
    outlive = Outlive(tmp_path)
    outlive("task", "create", "one")
    outlive("memory", "add", "The parser is strict.")
    with Session.start(open_stores(base=tmp_path).logs, id="s", folder=str(tmp_path)) as session:
        session.user_said("Hello.")
    pipe, link, planted = tmp_path / "pipe", tmp_path / "link", tmp_path / ".pipe.part"
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    planted.symlink_to("elsewhere")
    for output in (pipe, link):
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        assert outlive(*command.split(), str(output)).code == 0
        assert reader.communicate()[0]
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_an_output_file_appears_complete_or_not_at_all(tmp_path: Path) -> None:
    def broken() -> Iterator[str]:
        yield "first"
        raise RuntimeError("the store broke")

    file = tmp_path / "out.jsonl"
    with pytest.raises(RuntimeError):
        write_lines(broken(), file)
    assert list(tmp_path.iterdir()) == []
    write_lines(["first", b"second"], file)
    assert file.read_bytes() == b"first\nsecond\n"


def test_a_pipe_or_device_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_lines(["line"], pipe)
        assert os.read(reader, 100) == b"line\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
