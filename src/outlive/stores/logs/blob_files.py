"""Large texts by content: `.task_outputs/tool-results/<sha-256>.txt`, written once, verified on every read."""

import hashlib
import os
import re
import secrets
from pathlib import Path

from outlive.regular import UnusableFile
from outlive.stores.disk import errors_named, private_folder, read_bytes, sync_folder, write_file
from outlive.stores.logs.blobs import verified
from outlive.stores.logs.protocol import DamagedBlob

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Blobs:
    def __init__(self, folder: Path, *, durable: bool) -> None:
        self.folder = folder
        self._durable = durable

    def path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise DamagedBlob(f"{digest!r} is not the name of a blob")
        return self.folder / f"{digest}.txt"

    def put(self, data: bytes) -> str:
        """Write the data unless it is there and intact; a damaged file is kept under another name."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        with errors_named("writing", path):
            found = _read(path)
            if found == data:
                return digest
            private_folder(self.folder.parent)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            scratch = self.folder / f".{digest}.{secrets.token_hex(4)}"
            try:
                write_file(scratch, data, os.O_EXCL, durable=self._durable)
                if os.path.lexists(path):
                    path.rename(_aside(path))
                scratch.replace(path)
            except OSError:
                scratch.unlink(missing_ok=True)
                raise
            if self._durable:
                sync_folder(self.folder)
        return digest

    def get(self, digest: str) -> bytes:
        path = self.path(digest)
        with errors_named("reading", path):
            return verified(_read(path), digest, str(path))


def _read(path: Path) -> bytes | None:
    """The content of the file; None if it does not exist, empty if we cannot have written it."""
    try:
        return read_bytes(path)
    except UnusableFile:
        return b""


def _aside(path: Path) -> Path:
    """A free name for a damaged file, which is kept instead of being overwritten."""
    number = 1
    while os.path.lexists(aside := path.with_suffix(f".damaged-{number}")):
        number += 1
    return aside
