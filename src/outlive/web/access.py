"""Who may ask: requests need the token or the cookie that it is exchanged for, and must come from our own page.

The checks, in this order: the Host is one of ours (DNS rebinding), no other site asked for it (Origin,
Sec-Fetch-Site), the cookie or the bearer token is right. Files of the page itself hold no data and need no cookie.
"""

import hashlib
import hmac
import secrets
from collections.abc import Collection
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outlive.config.home import home, keep
from outlive.errors import ConfigError
from outlive.regular import read_regular
from outlive.web.api import form_of, problem, route

TOKEN_BYTES = 32  # 256 bits; also the fewest characters of a token
LARGEST_TOKEN_FILE = 1024  # a larger one is not ours
SAFE_METHODS = ("GET", "HEAD")
OUR_OWN = ("same-origin", "none")
"""Values of Sec-Fetch-Site of our page, and of an address that the user typed."""
ENTER = "/api/enter"
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def token_file() -> Path:
    return home() / "web-token"


def load_token(*, renew: bool = False) -> str:
    """The token of this user's web servers, made when there is none. A new one makes all cookies invalid."""
    path = token_file()
    if not renew:
        try:
            token = read_regular(path, LARGEST_TOKEN_FILE).decode("ascii").strip()
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read ({error})", hint="move it aside; a new one is made") from None
        else:
            if len(token) >= TOKEN_BYTES:
                return token
    token = secrets.token_urlsafe(TOKEN_BYTES)
    keep(path, token + "\n")
    return token


class Access:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: Collection[str], port: int) -> None:
        """`hosts` are the names, with port, under which the server may be addressed."""
        self._app = app
        self._token = token
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{host}" for host in hosts)
        self._cookie_name = f"outlive_{port}"  # cookies do not tell ports apart
        self._cookie = hmac.new(token.encode(), b"browser cookie", hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    found.setdefault(name, value)
                found.setdefault("cache-control", "no-store")
            await send(message)

        answer = self._refusal(scope, headers)
        if answer is None and scope["path"] == ENTER:
            answer = await route(self._enter)(Request(scope, receive))
        await (answer or self._app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if headers.get("host", "") not in self._hosts:
            return problem(421, "this server is not known by that name", code="wrong_host")
        if not self._is_our_page(scope["method"], headers) and not _is_link_to_document(scope, headers):
            return problem(403, "another site may not ask this server", code="wrong_origin")
        path = scope["path"]
        if not path.startswith("/api/") or path == ENTER or self._is_known(headers):
            return None
        hint = "open the address that `outlive web` printed, with its token"
        return problem(401, "this browser is not signed in", hint=hint, code="not_signed_in")

    def _is_our_page(self, method: str, headers: Headers) -> bool:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin not in self._origins:
            return False
        if site is not None and site not in OUR_OWN:
            return False
        if method in SAFE_METHODS:
            return True
        return origin is not None or site == "same-origin" or self._has_token(headers)

    def _is_known(self, headers: Headers) -> bool:
        given = cookie_parser(headers.get("cookie", "")).get(self._cookie_name, "")
        return hmac.compare_digest(given.encode(), self._cookie.encode()) or self._has_token(headers)

    def _has_token(self, headers: Headers) -> bool:
        """A program may send the token itself; a browser cannot be made to."""
        given = headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode())

    async def _enter(self, request: Request) -> Response:
        """Exchange the token for a cookie."""
        if request.method != "POST":
            return problem(405, "POST the token here", code="wrong_method")
        given = (await form_of(request)).get("token")
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), self._token.encode()):
            hint = "open the address that `outlive web` printed last"
            return problem(401, "the token is wrong, or was replaced by a new one", hint=hint, code="wrong_token")
        response = Response(status_code=204)
        response.set_cookie(self._cookie_name, self._cookie, httponly=True, samesite="strict", path="/")
        return response


def _is_link_to_document(scope: Scope, headers: Headers) -> bool:
    """Whether a link on another site leads to the page. The document itself holds no data; its requests need the
    cookie, which SameSite=Strict keeps from other sites."""
    return (
        scope["method"] == "GET"
        and not scope["path"].startswith(("/api/", "/static/"))
        and headers.get("origin") is None
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )
