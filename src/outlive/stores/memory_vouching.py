"""Whose memories these are. A folder, or a database that is one file, may have come with a repository, and what it
says of itself proves nothing: that the user said something counts where the user's home bears it out.

A store has a token, made here and never shared. Under it the home has a mark: all of the store counts, because it was
begun here or the user has looked at it; or else what was written here. A store that is moved keeps its token; one
that is cloned, or copied to another machine, has none that is known.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from outlive.stores.memory_records import Memory


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What of a store the user vouches for: all of it, and why, or memories by their digests."""

    place: str = ""
    everything: Literal["", "begun", "adopted"] = ""
    digests: tuple[str, ...] = ()


class Vouching:
    """For one store. Without a home there is nothing to bear out: all of the store counts."""

    def __init__(self, home: Path | None = None, place: str = "") -> None:
        self.asked = home is not None
        self._folder = (home or Path()) / "vouched"
        self._place = place
        self._token = ""
        self._mark = Mark() if home else Mark(everything="begun")
        self._told = self._mark
        self._seen: object = None

    @property
    def everything(self) -> str:
        """Why all of the store counts, or nothing."""
        return self._mark.everything

    def state(self) -> object:
        """Differs when something else is vouched for."""
        with suppress(OSError):
            found = self._file().stat()
            return found.st_ino, found.st_mtime_ns, found.st_size
        return None

    def follow(self, token: str) -> bool:
        """Take in what the home says about the store of this token; whether something else counts than when this was
        last asked."""
        if not self.asked:
            return False
        self._token = token
        state = (token, self.state())
        if state != self._seen:
            self._seen, self._mark = state, self._read()
        before, self._told = self._told, self._mark
        return self._mark != before

    def seen(self, memory: Memory) -> Memory:
        """The memory, marked as foreign where nobody here vouches for it."""
        foreign = not self._mark.everything and _digest(memory) not in self._mark.digests
        if memory.provenance.foreign == foreign:
            return memory
        return replace(memory, provenance=replace(memory.provenance, foreign=foreign))

    def wrote(self, memories: Iterable[Memory], *, first: bool, keep: Callable[[str], None]) -> None:
        """Vouch for what is written here now, unless it is foreign itself. Into an empty store (`first`): for all of
        it from now on. `keep` puts a new token into the store."""
        mine = [_digest(memory) for memory in memories if not memory.provenance.foreign]
        if self._mark.everything or not mine:
            return
        if first:
            self._put(Mark(self._place, everything="begun"), keep)
        else:
            digests = tuple(dict.fromkeys((*self._mark.digests, *mine)))
            self._put(Mark(self._place, digests=digests), keep)

    def adopt(self, keep: Callable[[str], None]) -> None:
        """The user has looked at it, and vouches for all of the store."""
        if not self._mark.everything:
            self._put(Mark(self._place, everything="adopted", digests=self._mark.digests), keep)

    def disown(self) -> bool:
        """Take that back; what was written here still counts. False where there was nothing to take back."""
        if self._mark.everything != "adopted":
            return False
        self._put(Mark(self._place, digests=self._mark.digests), lambda _: None)
        return True

    def _put(self, mark: Mark, keep: Callable[[str], None]) -> None:
        """A token that the home does not know is not ours, so that a new one is made. Where the home cannot be
        written, it holds as long as this process."""
        if not self._file().exists():
            self._token = os.urandom(16).hex()
            keep(self._token)
        self._mark = mark
        with suppress(OSError):
            _replace(self._file(), msgspec.json.encode(mark))
        self._seen = (self._token, self.state())

    def _read(self) -> Mark:
        """A mark that cannot be read vouches for nothing."""
        try:
            return msgspec.json.decode(self._file().read_bytes(), type=Mark) if self._token else Mark()
        except (OSError, msgspec.DecodeError):
            return Mark()

    def _file(self) -> Path:
        return self._folder / f"{sha256(self._token.encode()).hexdigest()[:32]}.json"


def _digest(memory: Memory) -> str:
    """Of what it says and who is said to have said it."""
    source = memory.provenance
    form = (memory.slug, memory.type, memory.text, source.who, source.confirmed)
    return sha256(msgspec.json.encode(form)).hexdigest()[:32]


def _replace(path: Path, raw: bytes) -> None:
    """Whole or not at all, for the user alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = path.with_suffix(f".{os.getpid()}")
    with scratch.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)
