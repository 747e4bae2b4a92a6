"""Changes to the files of a client: shown first, written atomically, kept in a journal, undone byte for byte."""

import base64
import difflib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from outlive.clients.hook import remove_traces_of_hooks
from outlive.config.home import home
from outlive.errors import OutliveError
from outlive.private import make_private

MAX_FILE_BYTES = 16 * 1024 * 1024
"""Bytes of a settings file."""
LONG = 80
"""Lines of a new file that are shown."""
WithoutOurs = Callable[[Path, bytes], bytes | None]
"""A file without our entries; None if nothing is left of it."""


class SetupRefused(OutliveError):
    """A file of a client cannot be read or is not what it should be; nothing was changed."""


class SetupChange(Struct, frozen=True):
    """A file before and after; None is no file."""

    path: Path
    before: bytes | None
    after: bytes | None

    def diff(self) -> str:
        """The change as a unified diff; of a long new file only the name."""
        if self.before is None and (self.after or b"").count(b"\n") > LONG:
            return f"new file {self.path} ({len(self.after or b''):,} bytes)"

        def lines(data: bytes | None) -> list[str]:
            return (data or b"").decode(errors="replace").splitlines()

        name = str(self.path)
        sides = lines(self.before), lines(self.after)
        return "\n".join(difflib.unified_diff(*sides, name if self.before else "/dev/null", name, lineterm=""))


def read(path: Path) -> bytes | None:
    """The bytes of a file; None if there is none. A link to a file of the user's is followed."""
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SetupRefused(f"{path}: not a regular file; nothing was changed")
            data = file.read(MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SetupRefused(f"{path}: cannot be read ({error.strerror}); nothing was changed") from None
    if len(data) > MAX_FILE_BYTES:
        raise SetupRefused(f"{path}: larger than {MAX_FILE_BYTES:,} bytes; nothing was changed")
    return data


def applied_before(client: str) -> list[SetupChange]:
    """The changes that were made when a client was set up, from the journal."""
    data = read(_journal(client))
    if data is None:
        return []
    rows = json.loads(data)["files"]
    return [SetupChange(Path(row["path"]), _bytes(row["before"]), _bytes(row["after"])) for row in rows]


def applied(client: str, changes: Sequence[SetupChange], without: WithoutOurs) -> None:
    """Write the changes. The journal comes first, so that whatever was written can be undone.

    A file that was edited since the last time: to undo it is to take out our entries, which keeps the edits.
    """
    journal = _journal(client)
    known = {change.path: change for change in applied_before(client)}
    folders = set(_folders(client)) | set(_missing(journal.parent))
    for change in changes:
        first, before = known.get(change.path), change.before
        if first is not None and before is not None:
            before = first.before if before == first.after else without(change.path, before)
        known[change.path] = SetupChange(change.path, before, change.after)
        folders.update(_missing(change.path.parent))
    rows = [{"path": str(c.path), "before": _text(c.before), "after": _text(c.after)} for c in known.values()]
    form = {"version": 1, "files": rows, "folders": sorted(map(str, folders))}
    make_private(journal.parent)
    _put(journal, json.dumps(form).encode(), 0o600)
    for change in changes:
        _put(change.path, change.after)


def undo_changes(client: str, without: WithoutOurs) -> list[SetupChange]:
    """The changes that undo a setup. From a file that was edited since, `without` removes only our entries."""
    found = []
    for change in applied_before(client):
        now = read(change.path)
        if now in (None, change.before):  # the user removed it, or the setup was interrupted
            continue
        after = change.before if now == change.after else without(change.path, now)
        if after != now:
            found.append(SetupChange(change.path, now, after))
    return found


def undone(client: str, changes: Iterable[SetupChange]) -> None:
    """Write the changes that undo a setup, and remove the folders made for it if they are empty.

    A folder that another client uses by now is removed with that one.
    """
    for change in changes:
        _put(change.path, change.after)
    folders = _folders(client)
    journal = _journal(client)
    journal.unlink(missing_ok=True)
    if not any(journal.parent.glob("*.json")):
        remove_traces_of_hooks()
    for folder in (journal.parent, *sorted(folders, reverse=True)):
        with suppress(OSError):
            folder.rmdir()
    if other := next(journal.parent.glob("*.json"), None):
        form = json.loads(other.read_bytes())
        left = {str(folder) for folder in folders if folder.exists()}
        _put(other, json.dumps(form | {"folders": sorted({*form["folders"], *left})}).encode())


def _put(path: Path, data: bytes | None, mode: int = 0o644) -> None:
    """Replace a file atomically, keeping its mode; None removes it."""
    path = path.resolve()
    if data is None:
        path.unlink(missing_ok=True)
        return
    temporary = path.with_name(f".{path.name}.outlive-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else mode
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.rename(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise SetupRefused(f"{path}: cannot be written ({error.strerror}); it is as it was") from None


def _journal(client: str) -> Path:
    return home() / "clients" / f"{client}.json"


def _folders(client: str) -> list[Path]:
    """Folders that were made for a client."""
    data = read(_journal(client))
    return [] if data is None else [Path(name) for name in json.loads(data)["folders"]]


def _missing(folder: Path) -> Iterator[Path]:
    """A folder and those above it that do not exist yet."""
    while not folder.exists():
        yield folder
        folder = folder.parent


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
