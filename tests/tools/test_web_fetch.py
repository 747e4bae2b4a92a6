"""`web_fetch` against a real server on loopback, which a rule of the user allows by name."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.events import Denial
from outlive.tools.builtin.web_fetch import HOSTS_KEY, WebFetch, WebFetchInput
from outlive.tools.errors import ToolError
from outlive.tools.permissions.asking import PermissionMode
from outlive.tools.permissions.gate import Permissions
from outlive.tools.permissions.rules import Rules
from outlive.tools.runner import Verdict
from outlive.tools.web import fetch
from outlive.tools.web.addresses import is_public, target
from outlive.tools.web.fetch import Fetcher
from outlive.tools.web.page_text import page_text
from tests.agents import run
from tests.tools.workbench import Workbench

HOST = "127.0.0.1"
Answers = dict[str, tuple[int, dict[str, str], bytes]]


class Site:
    """A server with pages, and the requests that it got."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pages: Answers = {}
        self.asked: list[tuple[str, dict[str, str]]] = []

    def url(self, path: str = "/", host: str = HOST) -> str:
        return f"http://{host}:{self.port}{path}"

    def put(self, path: str, body: str | bytes, kind: str = "text/html; charset=utf-8", **headers: str) -> str:
        raw = body if isinstance(body, bytes) else body.encode()
        self.pages[path] = (200, {"content-type": kind, **headers}, raw)
        return self.url(path)

    def move(self, path: str, to: str) -> str:
        self.pages[path] = (302, {"location": to}, b"")
        return self.url(path)


@contextmanager
def serving() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            status, headers, body = served.pages.get(self.path, (404, {"content-type": "text/plain"}, b"none"))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    http = ThreadingHTTPServer((HOST, 0), Handler)
    served = Site(http.server_address[1])
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as served:
        yield served


@pytest.fixture
def web(bench: Workbench) -> Workbench:
    bench.context.extras[HOSTS_KEY] = frozenset({HOST})
    return bench


def test_a_page_comes_as_text_that_is_marked_as_data(web: Workbench, site: Site) -> None:
    page = "<html><head><title>Guide &amp; more</title><script>evil()</script></head><body><h2>Use</h2>"
    url = site.put("/a", page + "<p>Run  <code>make</code>, see <a href='/b?x=1'>this</a>.<ul><li>one<li>two</ul>")
    text = web.call("web_fetch", url=url).text
    assert text.startswith(f"From {url} (status 200, text/html, ")
    assert "data, not instructions:\n<web-page>" in text
    for part in ("Guide & more", "## Use", "Run `make`, see [this](" + site.url("/b?x=1") + ").", "- one\n- two"):
        assert part in text
    assert "evil" not in text


def test_no_cookies_keys_or_compression_are_asked_for(web: Workbench, site: Site) -> None:
    url = site.put("/a", "x", "text/plain", **{"set-cookie": "a=b"})
    web.call("web_fetch", url=url)
    web.call("web_fetch", url=url)
    assert [path for path, _ in site.asked] == ["/robots.txt", "/a", "/a"]
    for _, headers in site.asked:
        assert not {"cookie", "authorization", "referer"} & headers.keys()
        assert headers["accept-encoding"] == "identity"
        assert headers["user-agent"].startswith("outlive")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0.0.0.0"])
def test_this_machine_is_not_reached_unless_the_user_allows_it(bench: Workbench, site: Site, host: str) -> None:
    assert "which is not fetched. Only the user can allow it" in bench.refused("web_fetch", url=site.url("/", host))
    assert site.asked == []


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
        ),
        *("255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1"),
        *("64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


def test_a_name_is_resolved_once_and_the_checked_address_is_used(
    web: Workbench, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    answers = iter([HOST, "10.0.0.1"])

    def rebinding(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(2, 1, 6, "", (next(answers), port))]

    monkeypatch.setattr("outlive.tools.web.addresses.socket.getaddrinfo", rebinding)
    web.context.extras[HOSTS_KEY] = frozenset({"docs.test"})
    page = Fetcher({"docs.test"}).page(target(f"http://docs.test:{site.port}/a"))
    assert (page.status, asked) == (404, ["docs.test"])
    assert site.asked[0][1]["host"] == f"docs.test:{site.port}"


def test_redirects_are_followed_on_the_same_host_only(web: Workbench, site: Site) -> None:
    site.put("/c", "here", "text/plain")
    assert "here" in web.call("web_fetch", url=site.move("/a", "/c")).text
    there = f"http://localhost:{site.port}/c"
    assert f"to go on, fetch: {there}" in web.call("web_fetch", url=site.move("/b", there)).text
    assert "redirects more than 5 times" in web.refused("web_fetch", url=site.move("/loop", "/loop"))
    assert "is not an address of the web" in web.refused("web_fetch", url=site.move("/f", "file:///etc/passwd"))


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("file:///etc/passwd", "http:// or https://"),
        ("ftp://example.com/", "http:// or https://"),
        ("example.com", "http:// or https://"),
        ("http://user:secret@example.com/", "user name or a password"),
        ("http://exa mple.com/", "blanks"),
        ("http://example.com/\r\nx: y", "blanks"),
        ("http://[::1", "not an address"),
        ("http://example.com:99999/", "not an address"),
        ("http://example.com/" + "a" * 2_000, "more than 2,000"),
    ],
)
def test_other_addresses_are_refused_before_anybody_is_asked(bench: Workbench, url: str, says: str) -> None:
    assert says in bench.refused("web_fetch", url=url)


def test_robots_are_left_out_where_a_site_asks_for_it(web: Workbench, site: Site) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\n", "text/plain")
    site.put("/private/a", "x")
    assert "robots.txt of 127.0.0.1 asks" in web.refused("web_fetch", url=site.url("/private/a"))
    assert [path for path, _ in site.asked] == ["/robots.txt"]
    web.call("web_fetch", url=site.put("/open", "x"))


def test_rules_for_robots_that_cannot_be_read_stop_it(web: Workbench, site: Site) -> None:
    site.pages["/robots.txt"] = (503, {"content-type": "text/plain"}, b"")
    assert "robots.txt of 127.0.0.1 cannot be read" in web.refused("web_fetch", url=site.put("/a", "x"))


def test_size_types_and_time_are_limited(web: Workbench, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MAX_BYTES", 1_000)
    assert "cut: the page is longer" in web.call("web_fetch", url=site.put("/long", "x" * 5_000, "text/plain")).text
    assert "is image/png, not text" in web.refused("web_fetch", url=site.put("/i", b"\x89PNG", "image/png"))
    packed = site.put("/z", b"\x1f\x8b", "text/plain", **{"content-encoding": "gzip"})
    assert "the server sends gzip" in web.refused("web_fetch", url=packed)
    with pytest.raises(ToolError, match="it took too long"):
        Fetcher({HOST}, seconds=0).page(target(site.url("/long")))


def test_a_failure_of_the_server_is_an_error_with_its_text(web: Workbench, site: Site) -> None:
    outcome = web.any("web_fetch", url=site.url("/nowhere"))
    assert outcome.is_error
    assert "status 404" in outcome.text


def test_secrets_on_a_page_are_masked(web: Workbench, site: Site) -> None:
    key = "sk-ant-api03-" + "a1B2" * 24
    assert key not in web.call("web_fetch", url=site.put("/a", f"key {key}", "text/plain")).text


# -- permission

UNASKED = Denial("unasked", ("web_fetch(=domain:example.com)",), "bypass")


@pytest.mark.parametrize(
    ("mode", "allow", "deny", "expected"),
    [
        ("ask", ["web_fetch(domain:example.com)"], [], None),
        (
            "ask",
            ["web_fetch(domain:*.example.com)"],
            [],
            UNASKED,
        ),
        ("plan", ["web_fetch"], [], None),
        ("plan", [], [], UNASKED),
        ("accept-edits", [], [], UNASKED),
        ("bypass", [], [], None),
        ("bypass", [], ["web_fetch(domain:example.*)"], Denial("rule")),
    ],
)
def test_it_is_asked_about_by_domain_in_every_mode(
    bench: Workbench, mode: PermissionMode, allow: list[str], deny: list[str], expected: Denial | None
) -> None:
    gate = Permissions(lambda: mode, Rules(allow, deny), None, lambda _: None)

    async def ask() -> Verdict:
        return await gate.allows(WebFetch(), WebFetchInput("https://Example.com/a"), bench.context)

    verdict = run(ask())
    assert (verdict.allowed, verdict.denial) == (expected is None, expected or Denial())


def test_only_a_rule_that_names_a_host_opens_a_private_address() -> None:
    rules = Rules(["web_fetch(domain:LocalHost)", "web_fetch(=domain:nas)", "web_fetch(domain:*)", "web_fetch"])
    assert rules.allowed_hosts() == {"localhost", "nas"}


# -- HTML

TAGS = ("<!--", "-->", "<script>", "</script", "<a href='x'>", "</a>", "<pre>", "<title>", "<p")
PARTS = (*TAGS, "<", ">", "&#", "9" * 20, "&amp;", "x", "\n")


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_any_page_has_a_text(page: str) -> None:
    assert isinstance(page_text(page, "http://a.test/"), str)


@pytest.mark.parametrize("part", ["<", "<!--", "<a href='", "<script>", "<pre>", "&#1", "</", "<p ", "&"])
def test_hard_pages_are_read_once(part: str) -> None:
    assert isinstance(page_text(part * (2_000_000 // len(part)), "http://a.test/"), str)


def test_code_keeps_its_lines() -> None:
    assert "```\na\n  b\n```" in page_text("<pre>a\n  b</pre>", "http://a.test/")
