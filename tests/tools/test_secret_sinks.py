"""What tools read and print is masked before it is cut, kept or shown, wherever the cut falls."""

import asyncio
import json
import shutil
import textwrap
from pathlib import Path

import pytest

from outlive.agent.log.masking import masked
from outlive.agent.session import Session
from outlive.cli.chat.input.history import ProjectHistory
from outlive.context.state_block import LONGEST_NOTE
from outlive.events import AssistantSaid, Event, OpenTask, SessionStarted, TasksSeen
from outlive.messages import Text, Thinking, ToolCall
from outlive.models.errors import ModelNotSetUp, ModelUnavailable, PromptTooLong
from outlive.secrets import mask
from outlive.stores import open_stores
from outlive.tasks.audit import Audit
from outlive.tasks.graph import TaskGraph
from outlive.tasks.transfer import export_lines, import_bundle, read_bundle
from outlive.tools.builtin.read_file import MAX_LINE_CHARS
from outlive.tools.hooks import MAX_MESSAGE_CHARS, CommandHooks
from outlive.tools.processes.output import EDGE_BYTES
from tests.secret_forms import SHAPES, example
from tests.test_secret_streams import private_key
from tests.test_secrets import pieces
from tests.tools.workbench import Workbench

KEY = example(SHAPES["Anthropic"])
PEM = private_key(45)
BODY = PEM.replace("PRIVATE KEY", "").replace("-----", "")


@pytest.fixture(params=["ripgrep", "worker"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "ripgrep" and shutil.which("rg") is None:
        pytest.skip("NO RIPGREP: it is not installed here")
    if request.param == "worker":
        real = shutil.which
        monkeypatch.setattr(shutil, "which", lambda name, **more: None if name == "rg" else real(name, **more))


# -- commands


@pytest.mark.parametrize(
    "before", [EDGE_BYTES - 40, EDGE_BYTES - 1, 2 * EDGE_BYTES - 40, 64 * 1024 - 40, 3 * EDGE_BYTES - 40]
)
def test_a_key_on_the_border_of_a_cut_is_neither_answered_nor_kept(bench: Workbench, before: int) -> None:
    bench.write("p.py", f"print('x' * {before - 1}, end=' ')\nprint('{KEY}')\nprint('y' * {3 * EDGE_BYTES})\n")
    text = bench.call("bash", command="python3 p.py").text
    (spool,) = (bench.root / ".task_outputs" / "commands").glob("*.txt")
    assert not pieces(KEY, text)
    assert not pieces(KEY, spool.read_text())
    assert "[masked Anthropic API key]" in spool.read_text()


def test_a_key_before_the_tail_is_not_answered(bench: Workbench) -> None:
    rest = EDGE_BYTES - 40
    bench.write("p.py", f"print('x\\n' * {2 * EDGE_BYTES})\nprint('{KEY}' + ' y' * {rest // 2})\n")
    assert not pieces(KEY, bench.call("bash", command="python3 p.py").text)


def test_a_private_key_that_is_printed_bit_by_bit_is_not_shown(bench: Workbench) -> None:
    bench.write("key", PEM)
    program = """\
        import sys, time
        for at, sign in enumerate(open("key").read()):
            sys.stdout.write(sign)
            if at % 97 == 0:
                sys.stdout.flush()
        """
    bench.write("p.py", textwrap.dedent(program))
    text = bench.call("bash", command="python3 p.py; echo; echo done").text
    live = "".join(piece for _, piece in bench.streamed)
    assert text == "[masked private key]\ndone"
    assert live == "[masked private key]\ndone\n"


def test_half_a_key_is_not_shown_while_the_rest_is_waited_for(bench: Workbench) -> None:
    """Whole words of an unfinished line are shown, the last one is not whole."""
    half = len(KEY) // 2
    bench.write(
        "p.sh",
        f"printf 'it is {KEY[:half]}'; until test -e go; do sleep 0.05; done; echo '{KEY[half:]}'; sleep 60",
    )
    bench.call("bash", command="sh p.sh", background=True)
    seen: list[str] = []
    while not any("it is" in text for text in seen):
        seen.append(bench.call("bash_output", handle="bg1").text)
    bench.write("go", "")
    while not any("masked" in text for text in seen):
        seen.append(bench.call("bash_output", handle="bg1").text)
    bench.call("bash_output", handle="bg1", kill=True)
    assert not pieces(KEY, "".join(seen))


# -- files


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("context", [0, 3])
def test_lines_of_a_private_key_are_not_found_one_by_one(bench: Workbench, context: int) -> None:
    bench.write("a/key.pem", f"Words before it\n{PEM}\nWords after it\n")
    bench.write("b/code.py", "a = 'Words'\n" + example("{A64}") + "\n")
    text = bench.call("grep", pattern=r"[A-Za-z0-9+/]{20}|Words", context=context).text
    assert not pieces(BODY, text)
    assert text.count("[masked private key]") >= 46
    assert "    1:Words before it" in text
    assert ":Words after it" in text
    assert example("{A64}") in text


@pytest.mark.usefixtures("engine")
def test_a_key_in_a_long_line_is_not_cut_in_two(bench: Workbench) -> None:
    for before in range(0, 400, 23):
        bench.write("one.txt", f"{'word ' * 300}{KEY} {'x' * before} here {'word ' * 300}")
        assert not pieces(KEY, bench.call("grep", pattern="here").text), before


@pytest.mark.parametrize(("offset", "limit"), [(1, 2000), (2, 40), (30, 5), (47, 3), (2, 1)])
def test_a_page_from_the_middle_of_a_private_key_shows_nothing_of_it(
    bench: Workbench, offset: int, limit: int
) -> None:
    bench.write("key.pem", f"{PEM}\n\nafter it\n")
    text = bench.call("read_file", path="key.pem", offset=offset, limit=limit).text
    assert not pieces(BODY, text)
    rows = [row for row in text.split("\n") if "\t" in row]
    assert [int(row.split("\t")[0]) for row in rows] == list(range(offset, min(offset + limit, 51)))


def test_a_long_line_is_masked_before_it_is_cut(bench: Workbench) -> None:
    for before in range(MAX_LINE_CHARS - len(KEY), MAX_LINE_CHARS, 9):
        bench.write("one.txt", f"{'x' * (before - 1)} {KEY} {'y' * 3000}\n")
        assert not pieces(KEY, bench.call("read_file", path="one.txt").text), before


def test_what_a_page_leaves_out_still_tells_what_follows(bench: Workbench) -> None:
    bench.write("one.yaml", "password:\n  Tr0ub4dor3x\n")
    assert "Tr0ub4dor3x" not in bench.call("read_file", path="one.yaml", offset=2).text


def test_the_nearest_lines_to_an_edit_show_no_secret(bench: Workbench) -> None:
    rows = PEM.split("\n")
    bench.write("key.pem", PEM)
    bench.call("read_file", path="key.pem")
    wrong = "\n".join([rows[4], rows[5], rows[6][:-1] + "!"])
    text = bench.refused("edit_file", path="key.pem", old_text=wrong, new_text="x")
    assert not pieces(BODY, text, 12)


# -- hooks, tasks, errors, events


def test_what_a_hook_says_is_masked_before_it_is_cut(tmp_path: Path) -> None:
    for field in ("context", "block"):
        (tmp_path / "said.json").write_text(json.dumps({field: f"{'x ' * (MAX_MESSAGE_CHARS // 2 - 20)}{KEY}"}))
        hooks = CommandHooks({"Stop": [{"command": "cat said.json"}]}, tmp_path)
        assert not pieces(KEY, str(asyncio.run(hooks.fire("Stop"))))
    for command in (f"echo {'x' * 150} {KEY}", f"echo {KEY} >&2; exit 2", f"echo {KEY} >&2; exit 1"):
        hooks = CommandHooks({"Stop": [{"command": f"sh h.sh {len(command)}"}]}, tmp_path)
        (tmp_path / "h.sh").write_text(command)
        assert not pieces(KEY, str(asyncio.run(hooks.fire("Stop"))))


def test_tasks_hold_no_secrets(bench: Workbench) -> None:
    bench.call("task_create", subject=f"use {KEY}", description=f"the key is {KEY}\n{PEM}")
    bench.call("task_update", task_id=1, subject=f"still {KEY}", description=f"and {KEY}")
    bench.call("task_claim", task_id=1)
    bench.call("task_complete", task_id=1, result=f"used {KEY}")
    graph = TaskGraph(bench.tasks)
    graph.create("password: Tr0ub4dor3x", metadata={KEY: {"password": "Tr0ub4dor3x", "deep": [KEY]}}, owner="me")
    for path in (bench.root / ".tasks").rglob("*"):
        if path.is_file():
            raw = path.read_bytes().decode("latin-1")
            assert not pieces(KEY, raw), path
            assert "Tr0ub4dor3x" not in raw, path


def test_imported_tasks_hold_no_secrets(bench: Workbench, tmp_path: Path) -> None:
    line = json.dumps(
        {"id": 7, "subject": f"use {KEY}", "status": "pending", "metadata": {"password": "Tr0ub4dor3x"}}
    )
    store = open_stores(f"files:{tmp_path}/other").tasks
    bundle = read_bundle(line.encode(), where="here")
    import_bundle(store, bundle, Audit("me", None))
    exported = "\n".join(export_lines(store))
    assert not pieces(KEY, exported)
    assert "Tr0ub4dor3x" not in exported


@pytest.mark.parametrize("kind", [ModelNotSetUp, ModelUnavailable, PromptTooLong])
def test_what_a_provider_repeats_of_a_key_is_masked(kind: type[ModelNotSetUp]) -> None:
    assert (
        str(kind(f"Incorrect API key provided: {KEY}.")) == "Incorrect API key provided: [masked Anthropic API key]."
    )


def test_every_text_of_every_event_is_masked_and_thinking_is_not() -> None:
    call = ToolCall("c", "bash", {"command": f"use {KEY}", KEY: 1, "more": [{"password": "Tr0ub4dor3x", KEY: KEY}]})
    events: list[Event] = [
        SessionStarted(id=1, time=0.0, session="s", system=f"rules {KEY}", tools=({"description": KEY},)),
        TasksSeen(id=2, time=0.0, tasks=(OpenTask(1, f"use {KEY}"),)),
    ]
    for event in events:
        assert KEY not in str(masked(event, mask))
    thought = Thinking(f"I saw {KEY}", "signed")
    said = masked(AssistantSaid(id=3, time=0.0, blocks=(thought, Text(KEY), call)), mask)
    assert isinstance(said, AssistantSaid)
    assert said.blocks[0] == thought
    assert KEY not in str(said.blocks[1:])
    assert "Tr0ub4dor3x" not in str(said.blocks[1:])


def test_a_note_is_masked_before_it_is_shortened(bench: Workbench) -> None:
    session = Session.start(bench.logs, id="noted", mask=mask)
    for before in range(LONGEST_NOTE - len(KEY), LONGEST_NOTE, 7):
        session.note(f"{'x' * (before - 1)} {KEY} and more {'y' * 200}")
    session.close()
    assert not pieces(KEY, str(bench.logs.read("noted").events))


def test_the_history_of_the_terminal_holds_no_secrets(tmp_path: Path) -> None:
    history = ProjectHistory(tmp_path / ".outlive")
    history.append_string(f"use {KEY}")
    assert not pieces(KEY, (tmp_path / ".outlive" / "history").read_text())
