"""The server over stdio: every tool, resource and prompt, hostile input, two clients at once, and how it ends."""

import json
import queue
import signal
import subprocess
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import ResourceUpdatedNotification

from outlive.cli.app import cli
from outlive.errors import ConfigError
from outlive.mcp import command
from outlive.mcp.server import OutliveServer
from outlive.mcp.texts import INSTRUCTIONS
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph
from tests.mcp.connection import RUN, Connection, over_stdio, with_past
from tests.talk import file_text

HUGE = "x" * 200_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    with_past(folder)
    return folder


@pytest.fixture(scope="module")
def mcp(folder: Path) -> Iterator[Connection]:
    with over_stdio(folder) as connection:
        yield connection


def graph(folder: Path) -> TaskGraph:
    return TaskGraph(open_stores(base=folder).tasks)


# -- what is listed


def test_the_list_of_tools_is_short(mcp: Connection) -> None:
    tools = mcp.portal.call(mcp.client.list_tools).tools
    forms = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    assert [tool.name for tool in tools] == ["recall", "tasks", "work", "remember", "memory_search", "state"]
    assert len(json.dumps(forms)) / 4 <= 1200
    assert all(form["inputSchema"]["type"] == "object" for form in forms)
    reading = [tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint]
    assert reading == ["recall", "memory_search", "state"]


def test_the_instructions_are_short_and_sent(mcp: Connection) -> None:
    assert mcp.client.instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS) <= 1500


# -- recall and state


def test_a_handle_gives_back_the_exact_text_and_names_its_session(mcp: Connection) -> None:
    head, _, text = mcp("recall", handle="@h2").partition("\n")
    assert (head, text) == ("[session new · @h2]", file_text(1, 90))
    assert mcp.resource("outlive://h/2") == file_text(1, 90)
    assert "Größe of the café defined? 名前\r\nNo idea\ttabs \u202e " in mcp("recall", handle="h1")


def test_a_session_can_be_named_by_the_beginning_of_its_id(mcp: Connection) -> None:
    assert mcp("recall", handle="1", session="ol").startswith("[session old · @h1]\n")
    assert mcp("recall", query="bananas", session="old").startswith("[session old]\n@h1 line ")
    assert "state names" in mcp.refused("recall", handle="@h1", session="nobody")


def test_a_search_finds_handles_page_by_page(mcp: Connection) -> None:
    first, second = (mcp("recall", query="handler_1_", page=page).splitlines()[1:] for page in (1, 2))
    assert [line.split()[0] for line in first[:10]] == ["@h2"] * 10
    assert first[:10] != second[:10]
    assert "more than 10" in first[10]
    assert mcp("recall", query="handler_1_7(", handle="@h2").splitlines()[1].startswith("    8\t")
    assert "nothing in it says" in mcp("recall", query="unmentioned")


def test_unknown_handles_and_pages_are_refused_by_name(mcp: Connection) -> None:
    assert mcp.refused("recall", handle="@h99").startswith("session new: no page '@h99'")
    assert "nonsense" in mcp.refused("recall", handle="nonsense")
    assert "there is no page 7" in mcp.refused("recall", handle="@h2", page=7)
    assert "@h12" in mcp.refused("recall")


def test_the_state_is_that_of_the_newest_session(mcp: Connection) -> None:
    state = mcp("state")
    assert state.startswith("[session new · ")
    assert "Goal: find the café" in state
    assert "never touch the harbour" in state
    assert "- old · " in state
    assert "Asked last (@h1):\n> Where is the Größe of the café defined?" in state
    assert "Permission mode" not in state, "of another harness"
    assert mcp("state", session="old").startswith("[session old")
    assert mcp.resource("outlive://state") == state


def test_the_prompts_hand_over_and_go_on(mcp: Connection) -> None:
    assert "Tasks of the project:" in mcp.prompt("handover")
    resume = mcp.prompt("resume")
    assert "Hand-over of a session of outlive (new)" in resume
    assert "> Where is the Größe" in resume
    assert "(old)" in mcp.prompt("resume", session="old")
    with pytest.raises(MCPError, match="handover and resume"):
        mcp.prompt("nothing")


# -- tasks and work


def test_a_task_lives_from_creation_to_completion(mcp: Connection, folder: Path) -> None:
    assert mcp("tasks", action="create", subject="Dig", description="deep") == "created #1 Dig (pending)"
    made = mcp("tasks", action="create", subject="Fill", addBlockedBy=["#1"], priority=1, labels=["earth"])
    assert made == "created #2 Fill (pending, waits for #1)"
    assert mcp("tasks", action="ready") == mcp.resource("outlive://tasks/ready") == "○ 1 Dig"
    assert "blocked by 1" in mcp.refused("work", action="claim", id=2)
    claimed = mcp("work", action="claim")
    assert "(token 2): #1 Dig (in_progress, owner mcp-" in claimed
    assert claimed.endswith("\ndeep")
    assert mcp("work", action="claim", id=1).startswith("it is yours already")
    assert "another 60 minutes" in mcp("work", action="heartbeat", id="task_1")
    assert mcp("work", action="complete", id=1, result="a hole") == "completed #1 Dig; now ready: #2 Fill"
    assert "result:\na hole" in mcp("tasks", action="get", id=1)
    assert mcp("tasks", action="update", id=2, subject="Fill it", status="cancelled").startswith("updated #2 Fill it")
    assert mcp("tasks", action="list") == "there are no open tasks"
    assert "✗ 2 Fill it P1 [earth]" in mcp("tasks", action="list", all=True)
    assert graph(folder).get(1).owner == graph(folder).history(1)[-1].actor


def test_what_another_holds_stays_with_its_holder(mcp: Connection, folder: Path) -> None:
    theirs = graph(folder).claim(graph(folder).create("Theirs").id, owner="somebody else")
    for action in ("heartbeat", "complete", "release"):
        assert "somebody else" in mcp.refused("work", action=action, id=theirs.id)
    assert "is held by" in mcp.refused("work", action="claim", id=theirs.id)
    assert "somebody else" in mcp.refused("tasks", action="update", id=theirs.id, status="completed")
    assert "stale" in mcp.refused("work", action="complete", id=theirs.id, token=1)
    assert graph(folder).get(theirs.id) == theirs


def test_a_subscriber_of_the_older_form_hears_of_a_change_by_another_process(folder: Path) -> None:
    heard: queue.Queue[object] = queue.Queue()

    async def note(message: object) -> None:
        heard.put(message)

    with over_stdio(folder, mode="legacy", message_handler=note) as mcp, warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        mcp.portal.call(mcp.client.subscribe_resource, "outlive://tasks/ready")
        made = graph(folder).create("Heard of")
        message = heard.get(timeout=60)
        assert isinstance(message, ResourceUpdatedNotification)
        assert message.params.uri == "outlive://tasks/ready"
        mcp.portal.call(mcp.client.unsubscribe_resource, "outlive://tasks/ready")
        graph(folder).complete(made.id)


def test_who_listens_for_lists_alone_costs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code does so at its start."""
    monkeypatch.chdir(folder)
    server = OutliveServer()
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server.protocol)) as client:
        for resources, threads in (([], 0), (["outlive://state"], 1)):
            stream = client.listen(tools_list_changed=True, resource_subscriptions=resources)
            with portal.wrap_async_context_manager(stream):
                watching = [thread for thread in threading.enumerate() if thread.name == "outlive changes"]
                assert len(watching) == threads
    server.close()


def test_two_clients_never_get_the_same_task(mcp: Connection, folder: Path) -> None:
    numbers = {graph(folder).create(f"Job {number}").id for number in range(6)}
    with over_stdio(folder, mode="legacy") as other:
        claims = [(one, one("work", action="claim")) for _ in range(3) for one in (mcp, other)]
        assert {int(text.split("#")[1].split()[0]) for _, text in claims} == numbers
        assert "nothing is ready" in other.refused("work", action="claim")
        mine, theirs = (int(text.split("#")[1].split()[0]) for _, text in claims[:2])
        assert "is held by" in other.refused("work", action="complete", id=mine)
        token = graph(folder).get(theirs).lease
        assert token is not None
    # The other one is gone. Its token, which its model was told, still proves the claim.
    assert mcp("work", action="complete", id=theirs, token=token.token).startswith(f"completed #{theirs}")


# -- hostile input


def test_bad_input_is_answered_and_the_server_goes_on(mcp: Connection) -> None:
    assert "at `action`" in mcp.refused("tasks", action="explode")
    assert "is not a task id" in mcp.refused("tasks", action="get", id="../../etc/passwd")
    assert "ids start at 1" in mcp.refused("tasks", action="get", id=-1)
    assert "no task has the id" in mcp.refused("tasks", action="get", id=10**14)
    assert "needs the id" in mcp.refused("tasks", action="update")
    assert "nothing to change" in mcp.refused("tasks", action="update", id=1)
    assert "work with action=claim" in mcp.refused("tasks", action="update", id=1, status="in_progress")
    assert "at most 200" in mcp.refused("tasks", action="create", subject=HUGE)
    assert "at most 100,000" in mcp.refused("tasks", action="create", subject="a", description=HUGE)
    assert "at most 8,000" in mcp.refused("recall", query=HUGE)
    assert "at most 8,000" in mcp.refused("state", session=HUGE)
    assert "unknown field" in mcp.refused("state", mode="bypass")
    assert "there is no tool" in mcp.refused("forget", memory="all")
    assert "blank" in mcp.refused("tasks", action="create", subject=" ")
    assert "no task has the id" in mcp.refused("tasks", action="create", subject="a", addBlockedBy=[999_999])
    for uri in ("outlive://h/999999", "outlive://h/../x", "outlive://nothing", "file:///etc/passwd"):
        with pytest.raises(MCPError, match=r"page|resource"):
            mcp.resource(uri)
    assert mcp("state").startswith("[session new")


def test_direction_marks_reach_no_terminal(mcp: Connection, folder: Path) -> None:
    made = mcp("tasks", action="create", subject="safe\u202egnp.exe")
    assert "safe\ufffdgnp.exe" in made
    assert "\u202e" not in mcp("tasks", action="list", all=True) + mcp("state")


# -- beginning and end


def test_nothing_is_created_by_looking(tmp_path: Path) -> None:
    with over_stdio(tmp_path) as mcp:
        assert mcp("state").startswith("there are no sessions in this workspace yet\nReady tasks:\nnothing is ready")
        assert mcp("memory_search", query="anything") == "nothing is remembered about that"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def raw(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A server that was greeted, after a line that is not JSON."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*RUN, "mcp"], cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1
    )
    assert process.stdin is not None
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    process.stdin.write("this is not JSON\n")
    assert ask(process, "initialize", **about)["serverInfo"]["name"] == "outlive"
    yield process
    process.kill()
    process.communicate()


def ask(process: "subprocess.Popen[str]", method: str, **params: Any) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
    return json.loads(process.stdout.readline())["result"]


def test_half_of_a_character_does_not_leave_the_client_without_an_answer(raw: "subprocess.Popen[str]") -> None:
    def made(subject: str) -> str:
        arguments = {"action": "create", "subject": subject}
        text: str = ask(raw, "tools/call", name="tasks", arguments=arguments)["content"][0]["text"]
        return text

    assert made("half \ud83d") == "created #1 half \ufffd (pending)"
    assert made("\ude00 half") == "created #2 \ufffd half (pending)"
    assert made("whole \U0001f600") == "created #3 whole \U0001f600 (pending)"
    assert made("\\ud83d") == "created #4 \\ud83d (pending)", "a backslash and letters"
    assert "NUL" in made("a\0b")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, None])
def test_it_ends_quietly(raw: "subprocess.Popen[str]", how: signal.Signals | None) -> None:
    if how is not None:
        raw.send_signal(how)
        raw.wait(timeout=60)
    out, err = raw.communicate(timeout=60)
    assert (raw.returncode, out) == (0, "")
    assert "Traceback" not in err


def test_it_ends_quietly_when_nobody_reads_its_answers(raw: "subprocess.Popen[str]") -> None:
    assert raw.stdin is not None
    assert raw.stdout is not None
    assert raw.stderr is not None
    raw.stdout.close()
    raw.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}) + "\n")
    raw.stdin.close()
    assert raw.wait(timeout=60) == 0
    assert raw.stderr.read() in ("", "outlive mcp: the client was gone before it had its answer\n")
    raw.stdin = raw.stdout = None


def test_a_disk_that_is_full_is_said_in_one_line(tmp_path: Path) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [*RUN, "mcp"],
            cwd=tmp_path,
            input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}) + "\n",
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == "refused: the client cannot be answered: [Errno 28] No space left on device\n"


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'outlive\[mcp\]'"):
        cli.main(["mcp"], prog_name="outlive", standalone_mode=False)
