"""A JSON API over HTTP: one connection pool, bounded answers, server-sent events.

httpx2 is imported when a client is made. What the events mean is the provider's module's business.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from outlive.models.failures import Failure
from outlive.models.sanitize import writable

if TYPE_CHECKING:
    from httpx2 import Response

CONNECT_TIMEOUT_SECONDS = 10.0  # far more than a handshake across the world takes
MAX_EVENT_BYTES = 32 * 2**20
"""Bytes of one event or one whole answer; the largest answer that is read has 8 Mi characters."""
MAX_ERROR_BYTES = 64 * 2**10  # errors of the API have a few hundred; a proxy's page is shown in part


class HttpError(Exception):
    """A response that is an error, or an error that was sent instead of an event (its status is 0)."""

    def __init__(self, body: Any, status: int = 0, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(str(status))
        self.body, self.status, self.headers = body, status, headers or {}

    def failure(self, said: Mapping[str, object], code: object = "") -> Failure:
        """The failure. `said` is the part of the body with the message."""
        message, kind = str(said.get("message") or ""), str(said.get("type") or "")
        return Failure(self.status, message, kind=kind, code=str(code or ""), headers=self.headers)


class HttpApi:
    """A client of one server. Nothing is retried, no redirect is followed: it would carry the key elsewhere."""

    def __init__(self, address: str, headers: Mapping[str, str], *, silence: float) -> None:
        """`silence`: seconds between two pieces of an answer."""
        import httpx2

        # Without compression, so that a few bytes cannot become an endless line.
        sent = {"accept-encoding": "identity", "content-type": "application/json", **headers}
        timeout = httpx2.Timeout(silence, connect=CONNECT_TIMEOUT_SECONDS)
        self.address = address.rstrip("/")
        self._client = httpx2.AsyncClient(headers=sent, timeout=timeout)

    async def close(self) -> None:
        await self._client.aclose()

    async def events(self, path: str, form: Any, headers: Mapping[str, str]) -> AsyncGenerator[Any, None]:
        """The data of each event of the answer. Raises HttpError for an event named `error`."""
        async with self._answer("POST", path, form, headers) as response:
            async for name, data in _server_sent(response):
                if name == b"error":
                    raise HttpError(_read(data))
                yield json.loads(data)

    async def post(self, path: str, form: Any, headers: Mapping[str, str]) -> Any:
        async with self._answer("POST", path, form, headers) as response:
            return json.loads(await _whole(response, MAX_EVENT_BYTES))

    async def get(self, path: str, seconds: float = CONNECT_TIMEOUT_SECONDS) -> Any:
        async with self._answer("GET", path, timeout=seconds) as response:
            return json.loads(await _whole(response, MAX_EVENT_BYTES))

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, form: Any = None, headers: Mapping[str, str] | None = None, **options: Any
    ) -> "AsyncIterator[Response]":
        """A successful response, whose body has not been read. Raises ValueError for an address that is none."""
        import httpx2

        content = b"" if form is None else _encoded(form)
        try:
            request = self._client.build_request(
                method, f"{self.address}/{path}", content=content, headers=headers, **options
            )
        except httpx2.InvalidURL as error:
            raise ValueError(f"{self.address}: {error}") from None
        response = await self._client.send(request, stream=True)
        try:
            if not response.is_success:
                raise HttpError(_read(await _start(response)), response.status_code, response.headers)
            yield response
        finally:
            await response.aclose()


def _encoded(form: Any) -> bytes:
    try:
        return json.dumps(form, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return _encoded(writable(form))


def _read(data: bytes) -> Any:
    """The body of an error: JSON, or the text that it is."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace").strip()


async def _start(response: "Response") -> bytes:
    """The first part of a body."""
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) >= MAX_ERROR_BYTES:
            break
    return bytes(data[:MAX_ERROR_BYTES])


async def _whole(response: "Response", most: int) -> bytes:
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > most:
            raise ValueError(f"an answer of more than {most:,} bytes")
    return bytes(data)


async def _server_sent(response: "Response") -> AsyncGenerator[tuple[bytes, bytes], None]:
    """Name and data of each event; one that has not arrived as a whole is none."""
    name, data, line, size = b"", list[bytes](), list[bytes](), 0
    async for piece in response.aiter_raw():
        size += len(piece)
        if size > MAX_EVENT_BYTES:
            raise ValueError(f"an event of more than {MAX_EVENT_BYTES:,} bytes")
        first, *rest = piece.split(b"\n")
        line.append(first)
        for following in rest:
            whole = b"".join(line).removesuffix(b"\r")
            line = [following]
            field, _, value = whole.partition(b":")
            if field == b"event":
                name = value.strip()
            elif field == b"data":
                data.append(value.removeprefix(b" "))
            elif not whole:
                if data and data != [b"[DONE]"]:
                    yield name, b"\n".join(data)
                name, data, size = b"", [], len(following)
