"""The command line as a whole: help, version, completion, what is loaded, how it ends."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

import outlive
from outlive.cli.app import cli
from outlive.cli.lazy import LazyGroup
from tests.cli.command import Outlive

HEAVY = {"rich", "pydantic", "sqlalchemy", "psycopg", "anthropic", "openai", "asyncio", "prompt_toolkit"}


@pytest.fixture
def here(tmp_path: Path) -> Outlive:
    return Outlive(tmp_path)


def commands(group: LazyGroup, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    import click

    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        found.append((*path, name))
        if isinstance(command, LazyGroup):
            found += commands(command, (*path, name))
    return found


def test_version_and_help(here: Outlive) -> None:
    assert here("--version").out.strip() == f"outlive, version {outlive.__version__}"
    assert "outlive task create" in here("--help").out
    assert here("tsak").err.strip().endswith("Did you mean 'task'?")


@pytest.mark.parametrize("path", commands(cli) if isinstance(cli, LazyGroup) else [], ids=" ".join)
def test_every_help_has_examples(path: tuple[str, ...]) -> None:
    import click
    from click.testing import CliRunner

    result = CliRunner().invoke(cli, [*path, "--help"])
    assert result.exit_code == 0
    assert isinstance(cli, click.Group)
    assert "Examples:" in result.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(here: Outlive, shell: str) -> None:
    assert "_OUTLIVE_COMPLETE" in here("completion", shell).out


def test_completion_offers_open_tasks_with_their_subjects(here: Outlive) -> None:
    here.task("create", "Write the parser")
    offered = here(_OUTLIVE_COMPLETE="zsh_complete", COMP_WORDS="outlive task get ", COMP_CWORD="3")
    del offered
    offered = here(_OUTLIVE_COMPLETE="zsh_complete", COMP_WORDS="outlive task complete ", COMP_CWORD="3")
    assert "1\nWrite the parser" in offered.out


@pytest.mark.parametrize("arguments", [["task", "list"], ["task", "create", "x"], ["task", "ready"], ["--help"]])
@pytest.mark.parametrize("store", ["files:.tasks", "sqlite:///tasks.db"])
def test_a_task_command_loads_nothing_heavy(tmp_path: Path, arguments: list[str], store: str) -> None:
    program = (
        "import sys, json\n"
        f"sys.argv = ['outlive', *{arguments!r}]\n"
        "from outlive.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('\\n' + json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    environment = {**os.environ, "OUTLIVE_STORE": store}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    heavy = HEAVY - ({"asyncio"} if arguments[1:2] == ["create"] and store.startswith("files") else set())
    assert not loaded & heavy  # the lock library of writers brings asyncio along; readers do without both


def test_the_quick_answer_is_the_answer_of_the_command(here: Outlive, tmp_path: Path) -> None:
    plan = [
        {"key": "a", "subject": 'quotes " \\ and \u00fc \U0001f600 \u2028', "labels": ["z", "ä"], "priority": 0},
        {"key": "b", "subject": "control", "description": "tab\tnewline\n\x1f", "metadata": {"a": [1.5, None, "ü"]}},
        {"subject": "blocked", "blockedBy": ["a", "b"]},
        {"subject": "owned", "owner": "ada"},
        {"key": "d", "subject": "done"},
        {"subject": "after done", "blockedBy": ["d"]},
    ]
    for store in ("files:.tasks", "sqlite:///tasks.db"):
        here.task("create", "--batch", "-", "--store", store, stdin=json.dumps(plan))
        here.task("complete", "5", "--store", store)
        for extra in ([], ["-n", "2"], ["--limit=1"]):
            quick = here.task("ready", "--json", "--store", store, *extra)
            slow = here.task("--store", store, "ready", "--json", *extra)
            assert quick.out == slow.out
            assert json.loads(quick.out)
        quick = here.task("ready", "--json", OUTLIVE_STORE=store)
        assert [task["id"] for task in quick.json] == [1, 2, 4, 6]


@pytest.mark.parametrize("store", ["files:.tasks", "sqlite:///tasks.db"])
def test_the_quick_answer_gives_back_what_a_dead_worker_held(here: Outlive, store: str) -> None:
    here.task("create", "a", "--store", store)
    here.task("claim", "--owner", "ada", "--ttl", "0.01s", "--store", store)
    assert here.task("ready", "--json", "--store", store).json[0]["status"] == "pending"
    assert here.task("history", "1", "--json", "--store", store).json[-1]["op"] == "expire"


def test_an_interrupt_ends_a_waiting_command_quietly(here: Outlive, tmp_path: Path) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "outlive", "task", "ready", "--wait"],
        cwd=tmp_path,
        env=here.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the runner of the tests may ignore it
    )
    assert waiting.stderr is not None
    for line in waiting.stderr:
        if "outlive.stores.tasks.files.store" in line:
            break
    time.sleep(0.3)
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate()
    assert waiting.returncode == 130
    assert "Traceback" not in err
    assert out == ""


def test_a_reader_that_goes_away_is_told_in_one_line(here: Outlive, tmp_path: Path) -> None:
    plan = "\n".join(f'{{"subject": "task {i}", "description": "{"x" * 200}"}}' for i in range(500))
    here.task("create", "--batch", "-", stdin=plan)
    shell = f"{sys.executable} -m outlive task export | head -n 1"
    done = subprocess.run(["sh", "-c", shell], cwd=tmp_path, env=here.environment, capture_output=True, text=True)
    assert done.stdout.startswith('{"outlive":"tasks"')
    assert done.stderr.startswith("outlive: nothing was changed;")
    assert done.stderr.count("\n") == 1


def test_colours_and_indented_json_are_for_terminals(here: Outlive, tmp_path: Path) -> None:
    here.task("create", "a")
    assert "\x1b[" not in here.task("list").out
    primary, secondary = pty.openpty()
    for arguments in (["list"], ["ready", "--json"]):
        subprocess.run(
            [sys.executable, "-m", "outlive", "task", *arguments],
            cwd=tmp_path,
            env={**here.environment, "TERM": "xterm"},
            stdout=secondary,
            check=True,
        )
    os.close(secondary)
    shown = os.read(primary, 65536).decode()
    assert "\x1b[32m" in shown
    primary, secondary = pty.openpty()
    command = [sys.executable, "-m", "outlive", "task", "list"]
    subprocess.run(command, cwd=tmp_path, env={**here.environment, "NO_COLOR": "1"}, stdout=secondary, check=True)
    os.close(secondary)
    assert "\x1b[" not in os.read(primary, 65536).decode()
    assert '\r\n    "subject": "a"' in shown


def test_the_demo_plays_to_its_good_end(here: Outlive) -> None:
    played = here("demo")
    assert played.code == 0, played.out + played.err
    story, _, checks = played.out.partition("What survived")
    assert "kill -9" in story
    assert "spool, snip, micro, collapse, auto, reactive" in checks
    assert (checks.count("✓"), checks.count("✗")) == (8, 0)


@pytest.mark.parametrize("story", ["graph", "replay"])
def test_the_other_stories_end_well_too(here: Outlive, story: str) -> None:
    played = here("demo", story)
    assert played.code == 0, played.out + played.err
    assert played.out.count("✓") >= 4
    assert "✗" not in played.out


def test_the_demo_can_be_watched_in_the_browser_until_ctrl_c(here: Outlive, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "outlive", "demo", "graph", "--web", "--no-open"]
    environment = {**here.environment, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    ) as process:
        assert process.stdout is not None
        address, browser = "", []
        for line in process.stdout:
            url = line.partition("browser: ")[2].strip()
            if url:
                address, _, token = url.partition("#token=")
                headers = {"Authorization": f"Bearer {token}"}
            if "The story begins when the page is open" in line:
                with urlopen(Request(f"{address}api/about", headers=headers)) as about:
                    assert json.load(about)["watched"] is False
                browser.append(urlopen(Request(f"{address}api/stream", headers=headers)))  # as a page does
            if "Ctrl-C ends it" in line:
                break
        assert browser
        with urlopen(address) as page:
            assert b"outlive" in page.read()
        browser[0].close()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    with pytest.raises(URLError):
        urlopen(address)
    assert not list(tmp_path.glob("outlive-demo-*"))
