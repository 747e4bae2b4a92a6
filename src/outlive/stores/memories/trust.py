"""Which memories are the user's. A folder or database file may have come with a repository, so its own provenance is
untrusted; it counts only if `~/.outlive/vouched` confirms it.

A store has a token for each home that wrote to it. Under that token the home keeps a list that only grows: the whole
store counts (`begun` here, or `adopted` by the user), or no longer (`disowned`); otherwise those memories count whose
digest is listed, because they were written here. A moved store keeps its tokens; in a clone, or on another machine,
none of them is known.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace

from outlive.errors import StoreUnavailable
from outlive.private import make_private
from outlive.regular import MIB, open_regular, read_regular
from outlive.stores.memories.records import Memory

MAX_FILE_BYTES = 64 * MIB
"""Bytes of the file of one store."""

BEGUN, ADOPTED, DISOWNED = "begun", "adopted", "disowned"
MAX_TOKENS = 64
"""Tokens of a store that are looked at."""


class MemoryTrust:
    """For one store. Without a home the whole store counts."""

    def __init__(self, home: Path | None = None, place: str = "") -> None:
        self.asked = home is not None
        self._folder = (home or Path()) / "vouched"
        self._place = place
        self._token = ""
        self._everything = home is None
        self._digests: set[str] = set()
        self._told: object = None
        self._seen: object = None

    def state(self) -> object:
        """Differs when the home's list changed."""
        with suppress(OSError):
            found = self._file().stat()
            return found.st_ino, found.st_size
        return None

    def follow(self, tokens: str) -> bool:
        """Read the home's list for the store with these tokens, one a line; True if other memories count than at the
        last call."""
        if not self.asked:
            return False
        found = tokens.split()[:MAX_TOKENS]
        if self._token not in found:
            self._token = next((token for token in found if self._file(token).exists()), "")
        state = (self._token, self.state())
        if state != self._seen:
            self._seen, self._everything, self._digests = state, False, set()
            with suppress(OSError):
                raw = read_regular(self._file(), MAX_FILE_BYTES) if self._token else b""
                self._take(raw.decode("utf-8", "replace").split("\n"))
        before, self._told = self._told, (self._everything, len(self._digests))
        return self._told != before

    def seen(self, memory: Memory) -> Memory:
        """The memory, marked as untrusted unless the home confirms it."""
        untrusted = not self._everything and _digest(memory) not in self._digests
        if memory.provenance.untrusted == untrusted:
            return memory
        return replace(memory, provenance=replace(memory.provenance, untrusted=untrusted))

    def wrote(self, memories: Iterable[Memory], *, first: bool, keep: Callable[[str], None]) -> None:
        """Confirm what is written here now, unless it is untrusted; the whole store if it is the `first` in it.
        `keep` puts a new token into the store."""
        mine = [] if self._everything else [_digest(memory) for memory in memories if not memory.provenance.untrusted]
        if mine:
            with suppress(StoreUnavailable):  # it holds as long as this process
                self._say([BEGUN] if first else mine, keep)

    def adopt(self, keep: Callable[[str], None]) -> None:
        """The user has looked at the store: all of it counts."""
        if not self._everything:
            self._say([ADOPTED], keep)

    def disown(self) -> bool:
        """Take that back; False where there was nothing to take back."""
        if not self.asked or not self._everything:
            return False
        self._say([DISOWNED], lambda _: None)
        return True

    def _say(self, lines: list[str], keep: Callable[[str], None]) -> None:
        """Where the home knows none of the tokens a new one is made."""
        if not self._token:
            self._token = os.urandom(16).hex()
            keep(self._token)
            lines = [f"# {self._place}", *lines]
        self._take(lines)
        try:
            self._append("\n".join(["", *lines, ""]).encode("utf-8", "replace"))
        except OSError as error:
            what = f"cannot write to {self._folder}, which knows whose memories these are: {error.strerror}"
            way = "have OUTLIVE_HOME lead elsewhere, or set OUTLIVE_TRUST_MEMORIES=1"
            raise StoreUnavailable(f"{what}; {way}") from None
        finally:
            self._seen = (self._token, self.state())

    def _append(self, raw: bytes) -> None:
        make_private(self._folder)
        descriptor = open_regular(self._file(), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, raw)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _take(self, lines: Iterable[str]) -> None:
        for line in lines:
            if line in (BEGUN, ADOPTED, DISOWNED):
                self._everything = line != DISOWNED
            else:
                self._digests.add(line)

    def _file(self, token: str = "") -> Path:
        return self._folder / sha256((token or self._token).encode()).hexdigest()[:32]


def _digest(memory: Memory) -> str:
    """Of what it says, what it replaces, and who is said to have said it."""
    source = memory.provenance
    form = (memory.slug, memory.type, memory.text, memory.date, memory.supersedes, source.who, source.confirmed)
    return sha256(msgspec.json.encode(form)).hexdigest()[:32]
