"""The server over HTTP: strangers are refused, both revisions of the protocol work, clients do not share claims."""

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from outlive.agent import Session
from outlive.stores.logs.files import FileLogStore
from tests.cli.command import Outlive
from tests.mcp.connection import Connection, HttpServer, with_past

PROBE = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    with_past(folder)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[HttpServer]:
    server = HttpServer(folder)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def mcp(server: HttpServer) -> Iterator[Connection]:
    with server.client() as connection:
        yield connection


def test_it_says_where_it_listens_and_with_which_token(server: HttpServer) -> None:
    assert set(server.said) == {"url", "token"}
    assert server.url.startswith("http://127.0.0.1:")
    assert len(server.token) >= 32


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Bearer é"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_strangers_are_refused(server: HttpServer, headers: dict[str, str], status: int) -> None:
    sent = {name.encode(): value.encode() for name, value in (ACCEPT | _bearer(server) | headers).items()}
    assert httpx2.post(server.url, json=PROBE, headers=sent).status_code == status


def test_a_path_that_is_not_the_endpoint_needs_the_token_too(server: HttpServer) -> None:
    elsewhere = server.url.removesuffix("/mcp") + "/.well-known/oauth-protected-resource"
    assert httpx2.get(elsewhere).status_code == 401
    assert httpx2.get(elsewhere, headers=_bearer(server)).status_code == 404


def test_a_large_body_is_refused(server: HttpServer) -> None:
    body = b"x" * (5 * 2**20)
    assert httpx2.post(server.url, content=body, headers=ACCEPT | _bearer(server)).status_code == 413


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_answer(server: HttpServer, mode: str) -> None:
    with server.client(mode=mode) as mcp:
        assert mcp("state").startswith("[session new")
        assert mcp("recall", handle="@h2").startswith("[session new · @h2]\n")


def test_clients_of_one_server_do_not_share_claims(server: HttpServer, mcp: Connection, folder: Path) -> None:
    mcp("tasks", action="create", subject="One")
    number = int(mcp("tasks", action="list").split()[1])
    claimed = mcp("work", action="claim", id=number)
    token = int(claimed.split("token ")[1].split(")")[0])
    with server.client() as other:
        assert "is held by" in other.refused("work", action="claim", id=number)
        assert "is held by" in other.refused("work", action="complete", id=number)
        assert "is held by" in other.refused("tasks", action="update", id=number, status="pending")
    assert mcp("work", action="complete", id=number, token=token).startswith(f"completed #{number}")


def test_subscribers_hear_of_a_change_by_another_process(mcp: Connection, folder: Path) -> None:
    """The newer form: one stream for all."""
    stream = mcp.client.listen(resource_subscriptions=["outlive://tasks/ready", "outlive://state"])
    with mcp.portal.wrap_async_context_manager(stream) as subscription:
        Outlive(folder).task("create", "From elsewhere")
        heard = [mcp.portal.call(anext, aiter(subscription)) for _ in range(2)]
        assert {getattr(event, "uri", "") for event in heard} == {"outlive://tasks/ready", "outlive://state"}
        with Session.start(FileLogStore(folder, durability="process"), id="newest") as session:
            session.user_said("and now?")
        assert getattr(mcp.portal.call(anext, aiter(subscription)), "uri", "") == "outlive://state"
    assert "From elsewhere" in mcp.resource("outlive://tasks/ready")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_quietly_though_a_client_listens(tmp_path: Path, how: signal.Signals) -> None:
    server = HttpServer(tmp_path)
    with server.client() as mcp:
        stream = mcp.client.listen(resource_subscriptions=["outlive://state"])
        with mcp.portal.wrap_async_context_manager(stream):
            server.process.send_signal(how)
            out, err = server.process.communicate(timeout=60)
    assert (server.process.returncode, out) == (0, "")
    assert "Traceback" not in err


def test_a_token_of_the_users_own_must_be_a_real_one(tmp_path: Path) -> None:
    short = Outlive(tmp_path)("mcp", "--http", OUTLIVE_MCP_TOKEN="short")
    assert (short.code, short.out) == (1, "")
    assert "OUTLIVE_MCP_TOKEN must have at least 16" in short.err
    assert Outlive(tmp_path)("mcp", "--port", "80").code == 2


def _bearer(server: HttpServer) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token}"}
