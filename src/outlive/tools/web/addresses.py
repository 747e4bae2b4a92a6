"""Which addresses may be fetched: public ones, and private ones of hosts that the user allowed by name.

A name is resolved once, all its addresses are checked, and the connection goes to a checked one, so that a name which
changes its answer (DNS rebinding) leads nowhere.
"""

import ipaddress
import socket
from collections.abc import Collection
from typing import Any
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from outlive.tools.errors import ToolError

MAX_URL_CHARS = 2_000  # longer ones mostly carry data, which is not to leave this machine unseen
PORTS = {"http": 80, "https": 443}
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))


class PageAddress(Struct, frozen=True):
    """A page to fetch: its address as given, and the parts of it."""

    url: str
    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.netloc}"

    @property
    def netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def target(url: str) -> PageAddress:
    """The parts of an address. Raises ToolError if it may not be fetched."""
    if len(url) > MAX_URL_CHARS or any(character <= " " or character == "\x7f" for character in url):
        raise ToolError(f"the address has more than {MAX_URL_CHARS:,} characters, or blanks or control characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ToolError(f"{url} is not an address: {error}") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise ToolError(f"{url} is not an address of the web; it begins with http:// or https:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise ToolError("the address holds a user name or a password; pages are fetched without")
    return PageAddress(url, parts.scheme, _ascii(parts.hostname), port or PORTS[parts.scheme], _path(parts))


def checked_addresses(page: PageAddress, allowed: Collection[str]) -> list[tuple[int, Any]]:
    """Family and address of each way to reach the host. Raises ToolError unless all are public or the user allowed
    this host by name."""
    try:
        found = socket.getaddrinfo(page.host, page.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"{page.host} is not found: {error}") from None
    private = [str(address[4][0]) for address in found if not is_public(str(address[4][0]))]
    if private and page.host not in allowed:
        raise ToolError(
            f"{page.host} is {private[0]}, an address of this machine or its network, which is not fetched. "
            f"Only the user can allow it, with the rule web_fetch(domain:{page.host})"
        )
    return [(family, address) for family, _, _, _, address in found]


def is_public(address: str) -> bool:
    """Whether an address belongs to the public internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if any(ip in network for network in _NAT64):
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _ascii(host: str) -> str:
    try:
        return host.encode("ascii" if host.isascii() else "idna").decode().lower().rstrip(".")
    except UnicodeError:
        raise ToolError(f"{host} is not the name of a host") from None


def _path(parts: SplitResult) -> str:
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return path if path.isascii() else "".join(c if c.isascii() else _quoted(c) for c in path)


def _quoted(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))
