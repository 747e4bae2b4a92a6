"""`outlive serve`: a real process behind a real socket."""

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from outlive.clients.serve import locate, server
from outlive.clients.serve.locate import ask, end, ensure, lock_path, running, socket_path
from outlive.clients.serve.server import ClientServer
from outlive.config import Workspace
from outlive.errors import OutliveError
from tests.clients.serve.message_lists import RULES, OpencodeList, PiList

Form = dict[str, Any]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / ".transcripts").mkdir(mode=0o700)
    with TemporaryDirectory(prefix="outlive-") as home:  # a short path: that of a test can be too long for a socket
        monkeypatch.setenv("OUTLIVE_HOME", f"{home}/home")
        found = Workspace.find(folder)
        yield found
        end(socket_path(found))


def session(steps: int = 30) -> PiList:
    made = PiList()
    made.user(f"Look at every bay. {RULES}")
    made.work(steps, lines=40)
    return made


def test_a_second_start_finds_the_first(workspace: Workspace) -> None:
    path = ensure(workspace)
    pid = ask(path, {"do": "ping"})["pid"]
    assert ensure(workspace) == path
    assert ask(path, {"do": "ping"})["pid"] == pid
    foreground = [sys.executable, "-m", "outlive", "-C", str(workspace.root), "serve"]
    second = subprocess.run(foreground, capture_output=True, text=True, timeout=60, check=True)
    assert "already" in second.stderr
    assert ask(path, {"do": "ping"})["pid"] == pid


def test_the_socket_is_the_users_alone_and_goes_with_the_server(workspace: Workspace) -> None:
    path = ensure(workspace)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert end(path)
    assert not path.exists()
    assert not end(path)


def test_a_killed_server_is_replaced_and_knows_what_it_knew(workspace: Workspace) -> None:
    path, asked = ensure(workspace), session().request()
    before = ask(path, asked)["view"]
    os.kill(ask(path, {"do": "ping"})["pid"], signal.SIGKILL)
    while running(path):
        pass
    assert path.exists(), "a leftover"
    assert ask(ensure(workspace), asked)["view"] == before
    assert any(isinstance(one, dict) for one in before)


def test_a_server_of_another_version_is_replaced(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask(ensure(workspace), {"do": "ping"})["pid"]
    monkeypatch.setattr(locate, "__version__", "another")
    assert ask(ensure(workspace), {"do": "ping"})["pid"] != first


def test_a_handle_in_the_view_is_recalled_over_the_socket(workspace: Workspace) -> None:
    path, client = ensure(workspace), session()
    recall = {"do": "recall", "client": "pi", "session": client.session}
    assert client.session in ask(path, {**recall, "handle": "@h1"})["error"]
    view = ask(path, client.request())["view"]
    assert "@h1 " in json.dumps(view)
    assert ask(path, {**recall, "query": "the seal of bay 1 is broken"})["text"].startswith("@h1 ")
    assert "crate 001-03 weighs 21 kg\n" in ask(path, {**recall, "handle": "@h1"})["text"]
    assert ask(path, {**recall, "handle": "@h1", "query": "001-03"})["text"].endswith("crate 001-03 weighs 21 kg")
    end(path)
    assert "crate 001-03 weighs 21 kg\n" in ask(ensure(workspace), {**recall, "handle": "@h1"})["text"]
    assert "@h999" in ask(path, {**recall, "handle": "@h999"})["error"]


def test_two_clients_at_once(workspace: Workspace) -> None:
    path, opencode = ensure(workspace), OpencodeList("other")
    opencode.user("Hello.")
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(str(path))
        line = json.dumps(session().request()).encode() + b"\n"
        slow.sendall(line[:1000])
        assert ask(path, opencode.request()) == {"view": None}
        slow.sendall(line[1000:])
        with slow.makefile("rb") as answers:
            assert json.loads(answers.readline())["view"]


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ({"do": "dance"}, "dance"),
        ({"do": "view", "client": "vim", "session": "s", "window": 9000, "messages": []}, "vim"),
        ({"do": "view", "client": "pi", "session": "", "window": 9000, "messages": []}, "length"),
        ({"do": "view", "client": "pi", "session": "s", "window": 10, "messages": []}, "2000"),
        ({"do": "view", "client": "pi", "session": "s", "window": 9000, "messages": ["x"]}, "object"),
    ],
)
def test_bad_input_is_answered_with_an_error(workspace: Workspace, request_: Form, problem: str) -> None:
    answer = in_process(workspace, [json.dumps(request_).encode() + b"\n"])[0]
    assert problem in answer["error"]


def test_a_request_may_not_be_too_large(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_REQUEST_BYTES", 5_000)
    fits, junk = json.dumps({"do": "ping"}).encode() + b"\n", b"{not json}\n"
    answers = in_process(workspace, [fits, junk, b"x" * 20_000])
    assert answers[0]["pid"] == os.getpid()
    assert [answer["error"][:9] for answer in answers[1:]] == ["not a req", "too large"]


def in_process(workspace: Workspace, lines: list[bytes]) -> list[Form]:
    """The answers of a server that runs here, over its socket."""

    async def talk() -> list[Form]:
        path = socket_path(workspace)
        locate.private_folder(path.parent)
        here = ClientServer(workspace)
        running_ = asyncio.create_task(here.run(path))
        while not path.exists():
            await asyncio.sleep(0)
        reader, writer = await asyncio.open_unix_connection(path)
        answers = []
        for line in lines:
            writer.write(line)
            answers.append(json.loads(await reader.readline()))
        writer.close()
        here.answer(b'{"do": "end"}')
        await running_
        return answers

    return asyncio.run(talk())


def test_a_folder_that_is_not_ours_gets_no_socket(workspace: Workspace, tmp_path: Path) -> None:
    run = socket_path(workspace).parent
    run.parent.mkdir(exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    run.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutliveError, match="not a folder of yours"):
        ensure(workspace)
    assert not any((tmp_path / "elsewhere").iterdir())


def test_a_failed_start_says_why(workspace: Workspace) -> None:
    (workspace.root / "outlive.toml").write_text('[store]\nurl = "sqlite:///x.db"\nnonsense')
    with pytest.raises(OutliveError, match=r"outlive\.toml"):
        ensure(workspace)


def test_the_lock_has_one_holder(workspace: Workspace) -> None:
    path = socket_path(workspace)
    locate.private_folder(path.parent)
    held = locate.lock(path)
    assert held is not None
    assert locate.lock(path) is None
    lock_path(path).unlink()
    again = locate.lock(path)
    assert again is not None, "the lock of a server that ended is no lock"
    os.close(held)
    os.close(again)


def test_a_long_home_gets_a_short_socket(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTLIVE_HOME", "/" + "x" * 200)
    assert len(os.fsencode(socket_path(workspace))) <= locate.MAX_PATH_BYTES
