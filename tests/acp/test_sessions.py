"""Sessions of an editor: cancelling, resuming, modes, several at once, and what a folder may not do."""

import asyncio
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from acp.schema import McpServerStdio, ToolCallUpdate, UserMessageChunk

from acp import PROTOCOL_VERSION, Client, RequestError, spawn_agent_process
from outlive.agent import Session
from outlive.stores import open_stores
from outlive.testing import Simulator, call, say
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step
from tests.acp.editor import MODEL, Editor, environment, opened, process
from tests.cli.command import Outlive

WAITING = "echo $$ > pid; until test -e never; do sleep 0.05; done"
WRITE = call("write_file", path="new.txt", content="x\n")


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def noted(folder: Path) -> bool:
    return (folder / "pid").exists() and (folder / "pid").read_text().strip().isdigit()


# -- cancelling


def test_a_cancelled_command_is_ended_and_the_session_goes_on(folder: Path) -> None:
    async def main() -> None:
        async with opened(folder, sim, "--allow", "bash(*)") as editor:
            session = await editor.new(folder)
            running = asyncio.ensure_future(editor.say(session, "Go."))
            await editor.until(lambda: noted(folder), "the command")
            with pytest.raises(RequestError, match="works on another prompt"):
                await editor.say(session, "Meanwhile.")
            for _ in range(2):
                await editor.agent.cancel(session_id=session)
            following = asyncio.ensure_future(editor.say(session, "Next."))  # it does not wait for the answer
            assert (await running).stop_reason == "cancelled"
            assert not runs(int((folder / "pid").read_text()))
            assert editor.call(session, "bash")["status"] == "failed"
            assert (await following).stop_reason == "end_turn"
            assert "[interrupted by the user" in sim.requests[-1].results()[0].text
            await editor.agent.cancel(session_id=session)  # nothing runs: nothing happens
            assert (await editor.say(session, "Still there?")).stop_reason == "end_turn"

    with Simulator([call("bash", command=WAITING), say("ok"), say("yes")]) as sim:
        asyncio.run(main())
        sim.verify()


@pytest.mark.parametrize("told", [True, False], ids=["by the editor", "by the answer alone"])
def test_a_cancelled_question_is_no_answer_of_the_user(folder: Path, told: bool) -> None:
    async def main() -> None:
        async def leave(_: ToolCallUpdate) -> str:
            if told:
                await editor.agent.cancel(session_id=session)
            return "cancelled"

        async with opened(folder, sim, answer=leave) as editor:
            session = await editor.new(folder)
            assert (await editor.say(session, "Go.")).stop_reason == "cancelled"
            await editor.say(session, "What happened?")
        assert "[interrupted by the user" in sim.requests[-1].results()[0].text

    with Simulator([WRITE, say("ok")]) as sim:
        asyncio.run(main())
    assert not (folder / "new.txt").exists()


def test_an_answer_that_has_not_begun_is_cancelled(folder: Path) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def answer(_: SeenRequest) -> Step:
        asked.set()
        go_on.wait()
        return say("too late")

    async def main() -> None:
        async with opened(folder, sim) as editor:
            session = await editor.new(folder)
            running = asyncio.ensure_future(editor.say(session, "Go."))
            await asyncio.to_thread(asked.wait)
            await editor.agent.cancel(session_id=session)
            assert (await running).stop_reason == "cancelled"
            go_on.set()

    with Simulator(brain=answer) as sim:
        asyncio.run(main())


def test_an_editor_that_goes_away_ends_the_command_and_the_process(folder: Path) -> None:
    async def main() -> None:
        async with opened(folder, sim, "--allow", "bash(*)") as editor:
            session = await editor.new(folder)
            running = asyncio.ensure_future(editor.say(session, "Go."))
            await editor.until(lambda: noted(folder), "the command")
        with pytest.raises(ConnectionError):
            await running
        assert editor.code == 0
        assert not runs(int((folder / "pid").read_text()))

    with Simulator([call("bash", command=WAITING)]) as sim:
        asyncio.run(main())


# -- resuming


def test_a_killed_session_is_listed_loaded_with_its_history_and_continued(folder: Path) -> None:
    async def killed() -> str:
        async with opened(folder, sim, "--allow", "bash(*)") as editor:
            session = await editor.new(folder)
            await editor.say(session, "I am Anna.")
            running = asyncio.ensure_future(editor.say(session, "Go."))
            await editor.until(lambda: noted(folder), "the command")
            editor.kill()
            with pytest.raises(ConnectionError):
                await running
        return session

    async def resumed(session: str) -> None:
        async with opened(folder, sim, "--allow", "bash(*)") as editor:
            (listed,) = (await editor.agent.list_sessions(cwd=str(folder))).sessions
            assert (listed.session_id, listed.title, listed.cwd) == (session, "I am Anna.", str(folder))
            loaded = await editor.agent.load_session(cwd=str(folder), session_id=session)
            assert loaded.modes is not None
            assert [one.content.text for one in editor.of(session, UserMessageChunk)] == ["I am Anna.", "Go."]
            assert editor.text(session) == "Hello Anna."
            assert editor.call(session, "bash")["status"] == "failed"
            assert (await editor.say(session, "/continue")).stop_reason == "end_turn"
            assert editor.text(session) == "Hello Anna.Where were we?"
            # Loaded again, it is the same; once closed, another process may have it.
            before = len(editor.of(session, UserMessageChunk))
            await editor.agent.load_session(cwd=str(folder), session_id=session)
            assert len(editor.of(session, UserMessageChunk)) == 2 * before
            async with opened(folder, sim) as other:
                with pytest.raises(RequestError, match="another process"):
                    await other.agent.load_session(cwd=str(folder), session_id=session)
                await editor.agent.close_session(session_id=session)
                await other.agent.resume_session(cwd=str(folder), session_id=session)
                assert other.of(session, UserMessageChunk) == []
                await other.say(session, "Who am I?")
            assert "I am Anna." in sim.requests[-1].user_words()

    script = [say("Hello Anna."), call("bash", command=WAITING), say("Where were we?"), say("Anna.")]
    with Simulator(script) as sim:
        session = asyncio.run(killed())
        asyncio.run(resumed(session))
        sim.verify()


# -- modes


def test_plan_mode_changes_nothing_and_only_modes_that_are_offered_can_be_chosen(folder: Path) -> None:
    async def main() -> None:
        async with opened(folder, sim) as editor:
            new = await editor.agent.new_session(cwd=str(folder))
            session = new.session_id
            assert new.modes is not None
            assert [one.id for one in new.modes.available_modes] == ["ask", "accept-edits", "plan"]
            assert new.modes.current_mode_id == "ask"
            await editor.agent.set_session_mode(session_id=session, mode_id="plan")
            await editor.say(session, "Write.")
            assert not (folder / "new.txt").exists()
            for wrong in ("bypass", "", "root"):
                with pytest.raises(RequestError, match="the modes are ask, accept-edits, plan"):
                    await editor.agent.set_session_mode(session_id=session, mode_id=wrong)
            await editor.agent.set_session_mode(session_id=session, mode_id="accept-edits")
            await editor.say(session, "Write.")
            assert (folder / "new.txt").read_text() == "x\n"
            assert editor.questions == []

    with Simulator([WRITE, say("planned"), WRITE, say("done")]) as sim:
        asyncio.run(main())
        assert "this is plan mode" in sim.requests[1].results()[0].text


def test_bypass_is_there_only_if_the_command_was_started_with_it(folder: Path) -> None:
    async def begun() -> str:
        async with opened(folder, sim, "--permission-mode", "bypass") as editor:
            new = await editor.agent.new_session(cwd=str(folder))
            assert new.modes is not None
            assert new.modes.current_mode_id == new.modes.available_modes[-1].id == "bypass"
            await editor.say(new.session_id, "Write.")
        return new.session_id

    async def later(session: str) -> None:
        async with opened(folder, sim) as editor:
            loaded = await editor.agent.load_session(cwd=str(folder), session_id=session)
            assert loaded.modes is not None
            assert loaded.modes.current_mode_id == "ask"
            assert "bypass" not in [one.id for one in loaded.modes.available_modes]
            await editor.say(session, "Run.")
            assert len(editor.questions) == 1

    with Simulator([WRITE, say("ok"), call("bash", command="touch ran"), say("ok")]) as sim:
        asyncio.run(later(asyncio.run(begun())))
    assert not (folder / "ran").exists()


# -- several sessions, and their folders


def test_two_sessions_work_at_once_each_in_its_folder(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "outlive.toml").write_text('[agent]\nmode = "bypass"\n')
    both = threading.Barrier(2)

    def answer(request: SeenRequest) -> Step:
        if request.results():
            return say(f"done {request.user_words()[0]}")
        both.wait()
        return call("write_file", path="mine.txt", content=f"{request.user_words()[0]}\n")

    async def main() -> None:
        async with opened(folder, sim, answer="allow_once") as editor:
            first, second = await editor.new(folder), await editor.new(other)
            await asyncio.gather(editor.say(first, "one"), editor.say(second, "two"))
            assert editor.text(first) == "done one"
            assert editor.text(second).endswith("done two")
            assert "outlive.toml" in editor.text(second), "that it is not trusted has to be said"
            assert len(editor.questions) == 2, "the file of a folder that nobody trusts chose the mode"
            listed = await editor.agent.list_sessions(cwd=str(other))
            assert [one.session_id for one in listed.sessions] == [second]

    with Simulator(brain=answer) as sim:
        asyncio.run(main())
    assert ((folder / "mine.txt").read_text(), (other / "mine.txt").read_text()) == ("one\n", "two\n")


def test_other_folders_of_the_editor_may_be_used_and_its_servers_are_named(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("from the other folder\n")
    server = McpServerStdio(name="their tools", command="false", args=[], env=[])

    async def main() -> None:
        async with opened(folder, sim) as editor:
            new = await editor.agent.new_session(
                cwd=str(folder), additional_directories=[str(other)], mcp_servers=[server]
            )
            await editor.say(new.session_id, "Read.")
            assert editor.call(new.session_id, "read_file")["status"] == "completed"
            assert "MCP servers are not connected: their tools" in editor.text(new.session_id)

    with Simulator([call("read_file", path=str(other / "notes.txt")), say("ok")]) as sim:
        asyncio.run(main())


def test_a_long_list_of_sessions_comes_in_pages(folder: Path) -> None:
    logs = open_stores(f"files:{folder}/.tasks", durability="process").logs
    for number in range(60):
        begun = Session.start(logs, id=f"s{number:02}", folder=str(folder))
        begun.user_said(f"request {number}")
        begun.close()
    logs.close()

    async def main() -> None:
        async with opened(folder, None) as editor:
            first = await editor.agent.list_sessions(cwd=str(folder))
            rest = await editor.agent.list_sessions(cwd=str(folder), cursor=first.next_cursor)
            found = [one.session_id for one in (*first.sessions, *rest.sessions)]
            assert (len(first.sessions), rest.next_cursor) == (50, None)
            assert sorted(found) == [f"s{number:02}" for number in range(60)]

    asyncio.run(main())


def test_it_starts_as_a_program_of_its_own_and_signals_end_it(folder: Path) -> None:
    async def main() -> None:
        editor, program = Editor(), [sys.executable, "-m", "outlive", "acp", "--model", MODEL]
        async with spawn_agent_process(cast(Client, editor), *program, env=environment(folder, sim), cwd=folder) as (
            agent,
            child,
        ):
            answer = await agent.initialize(protocol_version=PROTOCOL_VERSION + 7)
            assert answer.protocol_version == PROTOCOL_VERSION
            assert answer.agent_capabilities is not None
            assert answer.agent_capabilities.load_session
            editor.agent = agent
            session = await editor.new(folder)
            await editor.say(session, "Hello.")
            assert editor.text(session) == "Hello."
            os.kill(child.pid, signal.SIGTERM)
            assert await child.wait() == 0
            assert child.stderr is not None
            assert await child.stderr.read() == b""

    with Simulator([say("Hello.")]) as sim:
        asyncio.run(main())


def test_by_hand_it_says_that_an_editor_starts_it(folder: Path) -> None:
    result = Outlive(folder)("acp", "--help")
    assert "docs/editors.md" in result.out
    with (folder / "app.py").open() as file:
        from tests.fork_server import fork_server

        started = fork_server().start(
            ["acp"], folder=folder, environment=dict(os.environ), stdin=os.dup(file.fileno())
        )
        out, err = started.communicate()
    assert (started.returncode, out) == (2, "")
    assert "an editor starts this command" in err


# -- what may come in


HOSTILE = [
    b"not json",
    b"\xff\xfe",
    b"[]",
    b"17",
    b"[" * 100_000,
    b'{"id": [1], "result": {}}',
    b'{"id": {"a": 1}, "method": "initialize"}',
    b'{"id": 0, "error": "a text"}',
    b'{"id": 77, "result": {"nobody": "asked"}}',
    b'{"id": 1, "method": 5}',
    b'{"id": 1, "method": "session/new", "params": [1]}',
    b'{"method": "session/cancel", "params": {"sessionId": "nobody"}}',
    b'{"method": "session/cancel", "params": {"sessionId": 5}}',
    b'{"method": "$/unknown"}',
    b'{"id": "x", "method": "' + b"m" * 5000 + b'"}',
    b"",
]


def test_nothing_that_comes_in_ends_it_or_makes_a_traceback(folder: Path) -> None:
    def request(number: int, method: str, **params: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()

    requests: dict[int, tuple[str, dict[str, Any], str]] = {
        1: ("session/new", {}, "cwd"),
        2: ("session/new", {"cwd": "relative"}, "'relative' is not an absolute path"),
        3: ("session/new", {"cwd": "/nowhere/at all"}, "there is no folder"),
        4: ("session/new", {"cwd": "/tmp\0"}, "there is no folder"),
        5: ("session/load", {"cwd": str(folder), "sessionId": "../../etc/passwd"}, "etc/passwd"),
        6: ("session/load", {"cwd": str(folder), "sessionId": "unknown"}, "unknown"),
        7: ("session/prompt", {"sessionId": "nobody", "prompt": [{"type": "text", "text": "x"}]}, "load it first"),
        8: ("session/prompt", {"sessionId": 5, "prompt": "x"}, "sessionId: "),
        9: ("session/list", {"cwd": str(folder), "cursor": "made up"}, "cursor"),
        10: ("session/delete", {"sessionId": "x"}, "there is no method 'session/delete'"),
        11: ("session/new", {"cwd": str(folder), "additionalDirectories": ["etc"]}, "'etc' is not an absolute"),
    }

    async def main() -> None:
        editor = Editor()
        async with process(folder, sim, editor=editor) as (reader, writer):
            for line in HOSTILE:
                writer.write(line + b"\n")
            for number, (method, params, _) in requests.items():
                writer.write(request(number, method, **{"mcpServers": [], **params}) + b"\n")
            meta = {"cwd": "/etc", "session_id": "x", "self": 1}
            writer.write(request(12, "session/new", cwd=str(folder), mcpServers=[], _meta=meta) + b"\n")
            answers: dict[Any, Any] = {}
            while 12 not in answers:
                message = json.loads(await reader.readuntil(b"\n"))
                answers.setdefault(message["id"], message)
            for number, (_, _, said) in requests.items():
                error = answers[number]["error"]
                assert said in error["message"], error
                assert "Traceback" not in str(error)
            assert answers[None]["error"]["code"] == -32700
            assert len(answers["x"]["error"]["message"]) < 200
            session = answers[12]["result"]["sessionId"]
            content = [{"type": "text", "text": "Hello?"}]
            writer.write(request(13, "session/prompt", sessionId=session, prompt=content) + b"\n")
            last: Any = {}
            while last.get("id") != 13:
                last = json.loads(await reader.readuntil(b"\n"))
                if last.get("method") == "session/request_permission":
                    writer.write(json.dumps({"id": last["id"], "error": "not an object"}).encode() + b"\n")
                    last = {}
            assert last["result"] == {"stopReason": "end_turn"}
            assert "the editor could not ask the user: not an object" in sim.requests[-1].results()[0].text
        assert editor.code == 0
        assert "Traceback" not in editor.errors
        assert len(editor.errors.splitlines()) == 2, editor.errors  # the two bad cancellations

    with Simulator([WRITE, say("Yes.")]) as sim:
        asyncio.run(main())


def test_a_model_that_is_not_set_up_is_an_error_with_the_way_out(folder: Path) -> None:
    async def main() -> None:
        async with opened(folder, None) as editor:
            with pytest.raises(RequestError, match="ANTHROPIC_API_KEY"):
                await editor.new(folder)

    asyncio.run(main())
