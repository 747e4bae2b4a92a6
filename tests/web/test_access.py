"""Who may ask the server: strangers, other sites and rebound names are refused; nothing is bound but loopback."""

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from outlive.cli.output import EXIT_CODE
from outlive.web.live import MOST_WAITING, Mailbox, ServerEvent, messages_of
from outlive.web.server import MOST_CONNECTIONS
from tests.engines import worker_environment
from tests.web.server import TIMEOUT, WebServer, get

CHANGES = "/api/enter"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    server = WebServer(tmp_path_factory.mktemp("project"))
    yield server
    assert server.stop() == 0


def test_the_token_is_long_and_in_the_fragment_only(server: WebServer) -> None:
    assert len(server.token) >= 43  # 32 bytes
    assert "?" not in server.url
    file = server.home / "web-token"
    assert file.read_text().strip() == server.token
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("path", ["/api/about", "/api/w/x/sessions", "/api/w/x/changes", "/api/nothing"])
def test_the_api_needs_the_token(server: WebServer, path: str) -> None:
    assert get(server.origin + path).status_code == 401
    assert get(server.origin + path, headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_files_of_the_page_hold_no_data_and_need_no_token(server: WebServer) -> None:
    assert get(server.origin + "/").status_code == 200
    assert get(server.origin + "/static/js/main.js").status_code == 200


@pytest.mark.parametrize("path", ["/static/../access.py", "/static/%2e%2e/access.py", "/static/..%2faccess.py"])
def test_files_beside_the_page_are_not_served(server: WebServer, path: str) -> None:
    with httpx2.Client(timeout=TIMEOUT) as client:
        answer = client.send(client.build_request("GET", server.origin + path))
    assert "LARGEST_TOKEN_FILE" not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}"])
def test_another_name_for_this_machine_is_refused(server: WebServer, host: str) -> None:
    host = host.format(port=server.port)
    assert server.get("/api/about", headers={"Host": host}).status_code == 421
    assert get(server.origin, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_are_refused(server: WebServer, headers: dict[str, str]) -> None:
    assert server.get("/api/about", headers=headers).status_code == 403
    assert server.post(CHANGES, {"token": server.token}, headers=headers).status_code == 403


def test_a_change_without_an_origin_needs_the_token(server: WebServer) -> None:
    assert httpx2.post(server.origin + CHANGES, json={"token": server.token}, timeout=TIMEOUT).status_code == 403


def test_the_token_is_exchanged_for_a_cookie_that_scripts_cannot_read(server: WebServer) -> None:
    with httpx2.Client(base_url=server.origin, headers={"Origin": server.origin}, timeout=TIMEOUT) as client:
        assert client.post(CHANGES, json={"token": "wrong"}).status_code == 401
        assert client.get("/api/about").status_code == 401
        answer = client.post(CHANGES, json={"token": server.token})
        assert answer.status_code == 204
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert client.get("/api/about").status_code == 200


def test_every_answer_has_the_security_headers(server: WebServer) -> None:
    for path in ("/", "/static/js/main.js", "/api/about", "/api/nothing"):
        headers = server.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_a_large_body_is_refused(server: WebServer) -> None:
    answer = server.post(CHANGES, {"token": "x" * 300_000})
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "too_large"


def test_a_new_token_signs_browsers_out(tmp_path: Path) -> None:
    first = WebServer(tmp_path)
    first.stop()
    second = WebServer(tmp_path, port=first.port)
    assert second.token == first.token
    second.stop()
    third = WebServer(tmp_path, "--new-token")
    assert third.token != first.token
    third.stop()


def test_a_cookie_of_the_old_token_opens_nothing(tmp_path: Path) -> None:
    first = WebServer(tmp_path)
    with httpx2.Client(base_url=first.origin, headers={"Origin": first.origin}, timeout=TIMEOUT) as client:
        assert client.post(CHANGES, json={"token": first.token}).status_code == 204
        assert client.get("/api/about").status_code == 200
        first.stop()
        second = WebServer(tmp_path, "--new-token", port=first.port)
        assert second.port == first.port
        assert client.get("/api/about").status_code == 401
        assert client.post(CHANGES, json={"token": first.token}).status_code == 401
        second.stop()


def test_the_page_is_served_on_the_loopback_of_ipv6(server: WebServer) -> None:
    try:
        socket.create_connection(("::1", server.port)).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    origin = f"http://[::1]:{server.port}"
    headers = {"Authorization": f"Bearer {server.token}"}
    assert get(f"{origin}/api/about", headers=headers).status_code == 200
    assert get(f"{origin}/api/about").status_code == 401


FROM_ANOTHER_SITE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def test_a_link_on_another_site_leads_to_the_document_and_to_no_data(server: WebServer) -> None:
    assert get(f"{server.origin}/w/x/tasks", headers=FROM_ANOTHER_SITE).status_code == 200
    assert server.get("/api/about", headers=FROM_ANOTHER_SITE).status_code == 403
    assert server.get("/static/js/main.js", headers=FROM_ANOTHER_SITE).status_code == 403
    framed = FROM_ANOTHER_SITE | {"Sec-Fetch-Dest": "iframe"}
    assert get(f"{server.origin}/", headers=framed).status_code == 403
    assert server.post("/", headers=FROM_ANOTHER_SITE).status_code == 403


def test_more_connections_than_the_limit_are_refused_until_some_end(tmp_path: Path) -> None:
    server = WebServer(tmp_path)
    lines = ("GET /api/stream HTTP/1.1", f"Host: 127.0.0.1:{server.port}", f"Authorization: Bearer {server.token}")
    request = "\r\n".join([*lines, "", ""])
    with ExitStack() as held:
        refused = ""
        for _ in range(MOST_CONNECTIONS + 5):
            one = held.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            one.settimeout(60)
            one.sendall(request.encode())
            refused = one.recv(12).decode()
        assert refused == "HTTP/1.1 503"
    while server.get("/api/about").status_code == 503:  # the server has not noticed yet that they left
        pass
    server.stop()


def test_a_reader_that_does_not_keep_up_is_dropped_with_a_marker() -> None:
    async def read() -> list[ServerEvent]:
        mailbox: Mailbox[int] = Mailbox()
        for number in range(MOST_WAITING + 10):
            mailbox.put(number)
        return [message async for message in messages_of(mailbox, lambda number: ServerEvent(number))]

    found = asyncio.run(read())
    assert [message.data for message in found[:-1]] == list(range(MOST_WAITING))
    assert found[-1].event == "behind"


BUSY = """
import asyncio, os, signal, sys
from pathlib import Path
from outlive.config import Workspace
from outlive.web.server import listen, serve
from outlive.web.workspaces import ServedWorkspace, Workspaces

def interrupted_while_busy():
    loop = asyncio.get_running_loop()
    for _ in range(5_000):
        loop.call_soon_threadsafe(bool)
    os.kill(os.getpid(), signal.SIGINT)

def listening():
    asyncio.get_running_loop().call_later(0.2, interrupted_while_busy)

workspaces = Workspaces([ServedWorkspace(Workspace.find(Path(sys.argv[1])))])
serve(workspaces, listen(0, 0), token="t" * 32, host=None, listening=listening)
"""


def test_the_first_ctrl_c_ends_a_server_that_many_threads_have_woken(tmp_path: Path) -> None:
    script = [sys.executable, "-c", BUSY, str(tmp_path)]
    assert subprocess.run(script, env=worker_environment(), timeout=120, check=False).returncode == 0


@pytest.mark.parametrize("command", ["web", "learn"])
def test_a_server_that_cannot_tell_its_address_ends(tmp_path: Path, command: str) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "outlive", command, "--no-open", "--json", "--port", "0"],
            cwd=tmp_path,
            env=worker_environment() | {"OUTLIVE_HOME": str(tmp_path / "home")},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == EXIT_CODE
    assert "Traceback" not in ended.stderr


def test_a_project_whose_settings_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    home, broken, here = tmp_path / "home", tmp_path / "broken", tmp_path / "here"
    for folder in (broken, here):
        folder.mkdir()
        subprocess.run(
            [sys.executable, "-m", "outlive", "task", "create", "Look."],
            cwd=folder,
            env=worker_environment() | {"OUTLIVE_HOME": str(home)},
            check=True,
        )
        WebServer(folder, home=home).stop()
    os.mkfifo(broken / "outlive.toml")
    server = WebServer(here, "--all", home=home)
    shown = [workspace["name"] for workspace in server.json("/api/about")["workspaces"]]
    assert server.stop() == 0
    assert shown == ["here"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    assert WebServer(tmp_path).stop(number) == 0


def test_it_listens_on_loopback_only(server: WebServer) -> None:
    with socket.socket() as probe:
        probe.settimeout(5)
        assert probe.connect_ex((_outer_address(), server.port))


def _outer_address() -> str:
    """An address of this machine that is not loopback, else one that nobody has."""
    found = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    return next((address for address in found if not address.startswith("127.")), "127.1.2.3")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_a_host_that_others_reach_needs_a_token_of_the_users_own(tmp_path: Path, host: str) -> None:
    arguments = [sys.executable, "-m", "outlive", "web", "--no-open", "--json", "--host", host, "--port", "0"]
    environment = worker_environment() | {"OUTLIVE_HOME": str(tmp_path / "home")}
    refused = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "OUTLIVE_WEB_TOKEN" in refused.stderr
    short = subprocess.run(
        arguments, cwd=tmp_path, env=environment | {"OUTLIVE_WEB_TOKEN": "short"}, capture_output=True
    )
    assert short.returncode == 1
