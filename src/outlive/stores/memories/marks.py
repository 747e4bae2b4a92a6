"""When memories were last used, kept beside the index: mere use changes no file that a person or git looks at."""

from datetime import datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from outlive.stores.disk import Disk, identity, read_bytes
from outlive.stores.memories.records import Memory, as_utc


class Marks:
    """By slug. What a file says of itself counts where it is later, so that old files are heard."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._path: Path = disk.local / "used"
        self._seen: object = None
        self._held: dict[str, datetime] = {}

    def state(self) -> object:
        """Differs when they changed since."""
        return identity(self._path)

    def follow(self) -> set[str]:
        """Take in what other processes wrote; says which slugs changed. Marks that cannot be read are none."""
        state = self.state()
        if state == self._seen:
            return set()
        self._seen, before = state, self._held
        try:
            found = msgspec.json.decode(read_bytes(self._path) or b"{}", type=dict[str, datetime])
        except (msgspec.DecodeError, OSError):
            found = {}
        self._held = {slug: as_utc(moment) for slug, moment in found.items()}
        return {slug for slug in {*before, *self._held} if before.get(slug) != self._held.get(slug)}

    def marked(self, memory: Memory) -> Memory:
        """The memory with the last use that is known of it."""
        moment = self._held.get(memory.slug)
        if moment is None or (memory.last_used is not None and memory.last_used >= moment):
            return memory
        return replace(memory, last_used=moment)

    def tells(self, before: Memory | None, after: Memory) -> bool:
        """Whether a mark is all that has to be written for one to become the other."""
        if before is None or after.last_used is None:
            return False
        if before.last_used is not None and after.last_used < before.last_used:
            return False
        return replace(before, last_used=None) == replace(after, last_used=None)

    def keep(self, used: dict[str, datetime], gone: set[str]) -> None:
        """Add some and drop others. Only for the holder of the lock, who has followed."""
        held = {slug: moment for slug, moment in (self._held | used).items() if slug not in gone}
        if held != self._held:
            self._disk.write(self._path, msgspec.json.encode(held), durable=False)
            self._held, self._seen = held, self.state()
