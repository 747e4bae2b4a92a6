"""JSON in and out: answers, errors as data, and limits on what a browser may send."""

import functools
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from outlive.errors import OutliveError, StoreUnavailable
from outlive.printable import encodable

LARGEST_BODY = 256 * 1024
"""Bytes of a request, unless its route takes files."""
LARGEST_NUMBER = 2**53  # exact in JavaScript
_log = logging.getLogger(__name__)


class HttpProblem(Exception):
    """A request that cannot be answered, with the status that says so."""

    def __init__(self, status: int, message: str, *, hint: str = "", code: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint
        self.code = code


def bad_request(message: str) -> HttpProblem:
    return HttpProblem(400, message, code="bad_request")


def answer(value: object, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(_encode(value), status, media_type="application/json")


def problem(status: int, message: str, *, hint: str = "", code: str = "") -> Response:
    return answer({"error": {"message": message, "hint": hint, "code": code}}, status)


def _encode(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a surrogate pair
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, (list, tuple)):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {encodable(str(key)): _encodable(item) for key, item in value.items()}
    return value


def route(handler: Callable[[Request], Awaitable[object]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn a function that returns a value or raises OutliveError into an endpoint."""

    @functools.wraps(handler)
    async def endpoint(request: Request) -> Response:
        try:
            value = await handler(request)
        except HttpProblem as error:
            return problem(error.status, error.message, hint=error.hint, code=error.code)
        except OutliveError as error:
            return problem(_status(error), error.message, hint=error.hint, code=error.code)
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception:  # noqa: BLE001 - the page is told that something failed, the terminal what
            _log.exception("%s %s", request.method, request.url.path)
            hint = "the terminal in which the server runs tells more"
            return problem(500, "the server met an error that it does not know", hint=hint, code="internal")
        return value if isinstance(value, Response) else answer(value)

    return endpoint


def _status(error: OutliveError) -> int:
    if isinstance(error, StoreUnavailable):
        return 503
    return 404 if type(error).__name__.startswith("Unknown") else 409


async def bytes_of(request: Request, largest: int) -> bytes:
    """The body. Refused as soon as more than `largest` bytes have come."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > largest:
            raise HttpProblem(413, f"more than {largest:,} bytes", code="too_large")
    return bytes(data)


async def body_of(request: Request, largest: int = LARGEST_BODY) -> Any:
    """The body as JSON."""
    try:
        return msgspec.json.decode(await bytes_of(request, largest))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad_request(f"the body is not JSON: {error}") from None


async def form_of(request: Request) -> dict[str, Any]:
    """The body as a JSON object."""
    form = await body_of(request)
    if not isinstance(form, dict):
        raise bad_request("the body is not a JSON object")
    return form


def number(request: Request, name: str, default: int = 0, *, most: int = LARGEST_NUMBER) -> int:
    """A whole number of the query, at most `most`."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 17):
        raise bad_request(f"{name} must be a whole number, not {text[:40]!r}")
    return min(int(text), most)
