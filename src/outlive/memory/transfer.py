"""Taking memories in and out: JSON lines, and folders of Markdown files with frontmatter as other tools keep them."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from outlive.errors import DamagedRecord, OutliveError, StoreError
from outlive.memory import guard
from outlive.memory.book import Memories
from outlive.memory.errors import InvalidMemory
from outlive.memory.links import hidden_by
from outlive.memory.lookup import first_line
from outlive.memory.similar import words
from outlive.secrets import mask_value
from outlive.stores.memory_protocol import MemoryWriter
from outlive.stores.memory_records import KINDS, MAX_BYTES, Memory, Provenance, Scope
from outlive.stores.memory_text import parse

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Imported(msgspec.Struct):
    """What became of an import."""

    added: list[Memory] = []
    known: int = 0
    """Were there already, word for word."""
    refused: list[str] = []
    """Each with its place and the reason."""


class _Line(msgspec.Struct, kw_only=True):
    """One line of an export. Everything but name and one of description and body may be missing."""

    name: str
    description: str = ""
    type: str = "project"
    body: str = ""
    keys: list[str] | str | None = None
    key: list[str] | str | None = None
    date: str | None = None
    scope: str | None = None
    provenance: Provenance | None = None
    created: datetime | None = None
    updated: datetime | None = None


def export_lines(memories: Memories, *, everything: bool = False) -> Iterator[str]:
    """Those in use, or with `everything` also superseded and forgotten ones, one JSON object a line. Secrets in files
    that somebody wrote by hand are masked."""
    for memory in memories.all(superseded=everything, archived=everything):
        form: dict[str, Any] = {"name": memory.name, "description": memory.description, "type": memory.type}
        form |= {"body": memory.body, "keys": memory.keys, "date": memory.date, "scope": memory.scope}
        form |= {"provenance": memory.provenance, "created": memory.created, "updated": memory.updated}
        if everything:
            form |= {"slug": memory.slug, "supersedes": memory.supersedes, "derived_from": memory.derived_from}
            form |= {"archived": memory.archived}
        yield msgspec.json.encode(mask_value(msgspec.to_builtins(form))).decode()


def read_lines(raw: bytes, where: str, result: Imported) -> list[tuple[str, Memory]]:
    """Memories from JSON lines (or one JSON array), each with its place."""
    found = []
    for place, form in _forms(raw, where):
        try:
            found.append((place, _from_line(msgspec.convert(form, _Line, strict=False))))
        except (msgspec.ValidationError, InvalidMemory) as error:
            result.refused.append(f"{place}: {error}")
    return found


def read_folder(folder: Path, result: Imported) -> list[tuple[str, Memory]]:
    """Memories from a folder of .md files; its index is passed over, and so is what cannot be read."""
    found = []
    for path in sorted(folder.rglob("*.md")):
        if path.name in ("MEMORY.md", "README.md") or not path.is_file() or path.is_symlink():
            continue
        if path.stat().st_size > MAX_BYTES:
            result.refused.append(f"{path}: larger than {MAX_BYTES // 1024} KiB")
            continue
        moment = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
        try:
            memory = parse(path.read_bytes(), slug=path.stem, where=str(path), written=moment)
        except (StoreError, OSError) as error:
            result.refused.append(str(error))
            continue
        about = memory.description or first_line(memory.body)
        found.append((str(path), replace(memory, description=about, supersedes=(), derived_from=(), archived=None)))
    return found


def import_memories(
    memories: Memories, found: Sequence[tuple[str, Memory]], result: Imported, *, scope: Scope | None = None
) -> Imported:
    """Put them in, as one step for each scope. What may not be remembered is refused and named; the rest goes in."""
    for where in memories.stores:
        here = [(place, m) for place, m in found if (scope or m.scope) == where]
        if here:
            memories.write(where, lambda tx, here=here, where=where: _take(tx, here, where, memories.actor, result))  # type: ignore[misc]
    return result


def _take(tx: MemoryWriter, found: Sequence[tuple[str, Memory]], scope: Scope, actor: str, result: Imported) -> None:
    present = tx.all()
    hidden = hidden_by(present)
    known = {_identity(memory) for memory in present if memory.slug not in hidden}
    added = []
    for place, memory in found:
        if _identity(memory) in known:
            result.known += 1
            continue
        try:
            guard.checked(memory)
        except OutliveError as error:
            result.refused.append(f"{place}: {error}")
            continue
        known.add(_identity(memory))
        created = tx.now if memory.created == _EPOCH else memory.created
        updated = tx.now if memory.updated == _EPOCH else memory.updated
        added.append(
            replace(memory, slug=tx.new_slug(memory.name), scope=scope, created=created, updated=updated, revision=1)
        )
        tx.put(added[-1])
    if added:
        tx.record("import", actor=actor, note=f"{len(added)} memories")
    result.added += added


def _from_line(line: _Line) -> Memory:
    if line.type not in KINDS:
        raise InvalidMemory(f"the type {line.type!r} is none of {', '.join(KINDS)}")
    keys = [*_listed(line.keys), *_listed(line.key)]
    return msgspec.convert(
        {
            "slug": "-",
            "name": line.name.strip(),
            "description": line.description.strip() or first_line(line.body),
            "type": line.type,
            "scope": line.scope or "project",
            "body": line.body,
            "keys": list(dict.fromkeys(filter(None, keys))),
            "date": line.date or "",
            "provenance": line.provenance or Provenance(),
            "created": line.created or _EPOCH,
            "updated": line.updated or line.created or _EPOCH,
        },
        Memory,
    )


def _listed(value: list[str] | str | None) -> list[str]:
    return [value] if isinstance(value, str) else value or []


def _forms(raw: bytes, where: str) -> Iterator[tuple[str, Any]]:
    if raw.lstrip()[:1] == b"[":
        try:
            whole = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DamagedRecord(f"{where}: not valid JSON ({error}). Nothing was imported.") from None
        yield from ((f"{where}, item {number}", form) for number, form in enumerate(whole, start=1))
        return
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.strip():
            place = f"{where}, line {number}"
            try:
                yield place, msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise DamagedRecord(f"{place}: not valid JSON ({error}). Nothing was imported.") from None


def _identity(memory: Memory) -> tuple[object, ...]:
    return memory.name.casefold(), words(memory.description), words(memory.body), memory.date
