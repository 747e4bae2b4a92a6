"""`.env` of a workspace: which model to use, at which server and with which key.

A server or the owner of a key can read the conversation, and a cloned folder may name either. So nothing in the file
counts before `outlive trust`, not even a server on this machine. Only `KNOWN_VARIABLES` are used and part of the
digest, so other lines may change without asking again. Nothing is exported.
"""

import json
import os
import re
from collections.abc import Mapping
from io import StringIO
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from outlive.config.home import read_settings, trusted
from outlive.config.workspace import Workspace
from outlive.errors import ConfigError

KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")
GOES_TO: Mapping[str, tuple[str, ...]] = {
    "ANTHROPIC_BASE_URL": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"),
    "OPENAI_BASE_URL": ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"),
}
"""Variables that are sent to each address; they must have the same source as the address."""
SHOWN_VARIABLES = ("MODEL_ID", "OUTLIVE_FALLBACK", "OUTLIVE_THINKING", *GOES_TO)
"""Variables whose values may be shown."""
KNOWN_VARIABLES = (*SHOWN_VARIABLES, *(name for names in GOES_TO.values() for name in names))
MAX_FILE_BYTES = 128 * 1024
"""Bytes of the file; reading a line takes far longer than those of `outlive.toml`."""
MAX_SECRETS = 200
"""Variables of the file that are masked: every text is searched for each of them."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_WORDS = re.compile(r"\s|\A[A-Za-z]*\Z")
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class DotEnv:
    """The `.env` of a workspace; a linked worktree without one uses that of its main checkout."""

    def __init__(self, workspace: Workspace) -> None:
        own = workspace.root / ".env"
        self.path = own if own.is_file() else workspace.project / ".env"
        self.variables = _variables(self.path)
        """All variables. Their values are secrets and never appear in messages."""
        self.asks = {name: self.variables[name] for name in KNOWN_VARIABLES if name in self.variables}
        """The variables that need trust."""

    @property
    def secrets(self) -> dict[str, str]:
        """Variables whose values are masked by their names, also in the user's own words. The file may have come with
        a repository and must not rewrite those: only plain names count, no values that are words, and not too many.
        """
        named = ((name, value) for name, value in self.variables.items() if _NAME.fullmatch(name))
        return dict(islice(((name, value) for name, value in named if not _WORDS.search(value)), MAX_SECRETS))

    @property
    def digest(self) -> str:
        """SHA-256 of `asks`; empty if that is empty."""
        from hashlib import sha256

        return sha256(json.dumps(self.asks, sort_keys=True).encode()).hexdigest() if self.asks else ""

    @property
    def trusted(self) -> bool:
        """Whether the user has trusted `asks`, or it is empty."""
        return not self.asks or trusted(self.path, self.digest)

    def environment(self) -> dict[str, str]:
        """The variables of the process, which win, and those of this file if it is trusted.

        For an address from the file, keys, headers and ids also come from the file only. Raises ConfigError if a
        remote server would need a key that only the user's environment has.
        """
        ours = {name: value for name, value in os.environ.items() if value}
        if not self.trusted:
            return ours
        found = {**self.asks, **ours}
        for address, names in GOES_TO.items():
            if address not in self.asks or address in ours:
                continue
            self._check_key(address, [name for name in names if name in KEY_VARIABLES], ours)
            found = {name: value for name, value in found.items() if name not in names}
            found |= {name: self.asks[name] for name in names if name in self.asks}
        return found

    def _check_key(self, address: str, keys: list[str], ours: Mapping[str, str]) -> None:
        exported = [key for key in keys if key in ours]
        if not exported or any(key in self.asks for key in keys) or _host(self.asks[address]) in THIS_MACHINE:
            return
        raise ConfigError(
            f"{self.path}: {address} would be sent the {exported[0]} of your environment; "
            f"put the key for it beside it, or export {address} yourself"
        )

    def lines(self) -> list[str]:
        """`asks`, a line each; keys and headers without their values."""
        from outlive.secrets import mask

        return [
            f"{name} = {mask(value)!r}" if name in SHOWN_VARIABLES else f"{name} (not shown)"
            for name, value in self.asks.items()
        ]

    def notice(self) -> str:
        """One line about variables that are ignored because the file is not trusted, or nothing."""
        missing = ", ".join(name for name in self.asks if not os.environ.get(name))
        if not missing or self.trusted:
            return ""
        return f"{self.path} is not trusted, so this does not count: {missing}. Look at it, then: outlive trust"


def _variables(path: Path) -> dict[str, str]:
    raw = (
        None if path.is_dir() else read_settings(path, MAX_FILE_BYTES)
    )  # some keep a virtual environment under that name
    if raw is None:
        return {}
    from dotenv.parser import parse_stream  # dotenv_values prints a warning for each invalid line

    try:
        found = parse_stream(StringIO(raw.decode("utf-8")))
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    return {binding.key: binding.value for binding in found if binding.key and binding.value}


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
