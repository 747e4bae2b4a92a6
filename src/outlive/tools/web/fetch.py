"""Fetches one page: GET without cookies or credentials, to a checked address, bounded in time and size."""

import contextlib
import socket
import ssl
import time
from collections.abc import Collection
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urljoin

from msgspec import Struct

from outlive.tools.errors import ToolError
from outlive.tools.web.addresses import PageAddress, checked_addresses, target

AGENT = "outlive"
MAX_BYTES = 2_000_000  # of a page; the rest is not read
MAX_REDIRECTS = 5  # more are a loop
SECONDS = 30.0
"""Seconds for a page with its redirects and the rules for robots."""
CHUNK_BYTES = 65_536  # of a read; the time limit is checked between two
REDIRECTS = (301, 302, 303, 307, 308)
HEADERS = {
    "user-agent": AGENT,
    "accept": "text/html, text/*, application/json, */*;q=0.1",
    "accept-encoding": "identity",
    "connection": "close",
}


class WebPage(Struct, frozen=True):
    """What a server answered."""

    url: str
    status: int
    media_type: str
    charset: str
    body: bytes
    cut: bool = False
    moved_to: str = ""
    """Where the page is, if that is another host: the user's permission is for one."""


class Fetcher:
    """Fetches pages in a thread until a deadline; `abort` ends it from another thread."""

    def __init__(self, allowed: Collection[str], seconds: float = SECONDS) -> None:
        self._allowed = allowed
        self._until = time.monotonic() + seconds
        self._socket: socket.socket | None = None
        self._aborted = False

    def page(self, start: PageAddress) -> WebPage:
        """The page, after redirects on the same host. Raises ToolError."""
        page = start
        for _ in range(MAX_REDIRECTS + 1):
            found, location = self._once(page)
            if not location:
                return found
            page = target(urljoin(page.url, location))
            if page.host != start.host:
                return WebPage(found.url, found.status, "", "", b"", moved_to=page.url)
        raise ToolError(f"{start.url} redirects more than {MAX_REDIRECTS} times")

    def abort(self) -> None:
        """Close the connection."""
        self._aborted = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _once(self, page: PageAddress) -> tuple[WebPage, str]:
        """The answer to one request, and where it redirects to."""
        connection = HTTPConnection(page.host, page.port, timeout=SECONDS)
        try:
            connection.sock = self._connected(page)
            connection.request("GET", page.path, headers={"host": page.netloc} | HEADERS)
            answer = connection.getresponse()
            location = answer.getheader("location", "") if answer.status in REDIRECTS else ""
            return self._read(page, answer, location), location
        except (OSError, HTTPException, ValueError) as error:
            late = "it took too long" if self._aborted or self._until <= time.monotonic() else ""
            reason = late or str(error) or type(error).__name__
            raise ToolError(f"{page.url} cannot be fetched: {reason}") from None
        finally:
            connection.close()

    def _connected(self, page: PageAddress) -> Any:
        addresses = checked_addresses(page, self._allowed)
        for last, (family, address) in enumerate(addresses, 1 - len(addresses)):
            connection = socket.socket(family, socket.SOCK_STREAM)
            try:
                connection.settimeout(self._left())
                connection.connect(address)
                self._socket = connection
                if page.scheme == "https":
                    self._socket = ssl.create_default_context().wrap_socket(connection, server_hostname=page.host)
                return self._socket
            except BaseException as error:
                connection.close()
                if last == 0 or not isinstance(error, OSError):
                    raise
        raise OSError("the host has no address")

    def _read(self, page: PageAddress, answer: HTTPResponse, location: str) -> WebPage:
        media_type = answer.headers.get_content_type()
        charset = answer.headers.get_content_charset() or ""
        encoding = answer.getheader("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "") and not location:
            raise ToolError(
                f"{page.url} cannot be fetched: the server sends {encoding[:40]} although it was not asked"
            )
        parts: list[bytes] = []
        size = 0
        while not location and size <= MAX_BYTES and (part := answer.read1(CHUNK_BYTES)):
            self._left()
            parts.append(part)
            size += len(part)
        body = b"".join(parts)
        return WebPage(page.url, answer.status, media_type, charset, body[:MAX_BYTES], cut=len(body) > MAX_BYTES)

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0 or self._aborted:
            raise TimeoutError("it took too long")
        return left
