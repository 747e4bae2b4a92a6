"""Export and import of memories: JSON lines, and folders of Markdown files with frontmatter as other tools write
them."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from outlive.errors import DamagedRecord, OutliveError, StoreError
from outlive.memory import guard
from outlive.memory.errors import InvalidMemory
from outlive.memory.memories import Memories
from outlive.memory.refs import first_line
from outlive.memory.supersession import hidden_by, reach
from outlive.regular import read_named
from outlive.secrets import mask_value
from outlive.stores.memories.protocol import MemoryWriter
from outlive.stores.memories.records import KINDS, MAX_MEMORY_BYTES, Memory, Scope, in_utc
from outlive.stores.memories.text import parse

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIELDS = ("name", "description", "type", "body", "keys", "date", "scope", "provenance", "created", "updated")
"""Fields of each exported memory."""
_LINKS = ("slug", "supersedes", "derived_from", "archived")
"""Additional fields if superseded and forgotten ones are exported."""
_HEADING = re.compile(r"#{1,6} +(.*?)[# ]*")
_INDEX_LINE = re.compile(r"\s*[-*+] (?:\[[^\]]*\]\([^)]*\.md\)|… \d+ more, not shown here)|\s*<!--.*-->\s*$")
"""Lines of an index that refer to files beside it."""


class Imported(msgspec.Struct):
    """The result of an import."""

    added: list[Memory] = []
    known: int = 0
    """Already known, word for word."""
    refused: list[str] = []
    """Each with its place and the reason."""
    out_of_use: int = 0
    """Added, but superseded or forgotten as in their source."""
    alike: list[str] = []
    """Added under a slug of their own because the name was taken."""


def export_lines(memories: Memories, *, everything: bool = False) -> Iterator[str]:
    """Export memories in use, or with `everything` all of them, one JSON object a line. Secrets in hand-written files
    are masked."""
    for memory in memories.all(superseded=everything, archived=everything):
        form = {name: getattr(memory, name) for name in (*_FIELDS, *(_LINKS if everything else ()))}
        yield msgspec.json.encode(mask_value(msgspec.to_builtins(form))).decode()


def read_lines(raw: bytes, where: str, result: Imported) -> list[tuple[str, Memory]]:
    """Memories in JSON lines or one JSON array, each with its place."""
    found = []
    for place, form in _forms(raw, where):
        try:
            found.append((place, _from_line(form)))
        except (msgspec.ValidationError, InvalidMemory) as error:
            result.refused.append(f"{place}: {error}")
    return found


def read_folder(folder: Path, result: Imported) -> list[tuple[str, Memory]]:
    """Memories in a folder of .md files. Index lines are skipped, other text of an index is imported; unreadable
    files are reported. Files in `archive` are forgotten memories."""
    found = []
    for path in sorted(folder.rglob("*.md")):
        below = path.relative_to(folder).parts[:-1]
        if path.name == "README.md" or not path.is_file() or path.is_symlink() or below[:1] == ("damaged",):
            continue
        if path.name == "MEMORY.md" and below:
            continue
        for place, memory in read_markdown(path, result):
            forgotten = (memory.archived or memory.updated) if below[:1] == ("archive",) else None
            found.append((place, replace(memory, archived=forgotten)))
    return found


def read_markdown(path: Path, result: Imported) -> list[tuple[str, Memory]]:
    """The memory in one file; for a MEMORY.md, one per section with notes."""
    moment = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
    try:
        memory = parse(read_named(path, MAX_MEMORY_BYTES), slug=path.stem, where=str(path), written=moment)
    except (StoreError, OSError) as error:
        result.refused.append(str(error))
        return []
    if path.name == "MEMORY.md":
        return list(_sections(memory, path))
    return [(str(path), replace(memory, description=memory.description or first_line(memory.body)))]


def _sections(whole: Memory, path: Path) -> Iterator[tuple[str, Memory]]:
    """Notes in an index itself, by heading."""
    parts: list[tuple[str, int, list[str]]] = [("", 1, [])]
    for number, line in enumerate(whole.body.split("\n"), start=1):
        if heading := _HEADING.fullmatch(line.rstrip()):
            parts.append((heading[1].strip(), number, []))
        elif not _INDEX_LINE.match(line):
            parts[-1][2].append(line.rstrip())
    for name, number, lines in parts:
        if body := "\n".join(lines).strip("\n"):
            about = first_line(body)
            memory = replace(
                whole, slug="-", name=(name or about)[: guard.MAX_NAME_CHARS], description=about, body=body
            )
            yield f"{path}, part {number} ({name or 'its beginning'})", memory


def import_memories(
    memories: Memories, found: Sequence[tuple[str, Memory]], result: Imported, *, scope: Scope | None = None
) -> Imported:
    """Import memories as one step per scope. Those that may not be remembered are refused and reported.

    Memories that are superseded or forgotten in their source are so here too.
    """
    for where in memories.stores:
        here = [(place, m) for place, m in found if (scope or m.scope) == where]
        if here:
            memories.write(where, lambda tx, here=here, where=where: _take(tx, here, where, memories.actor, result))  # type: ignore[misc]
    return result


class _Item(msgspec.Struct):
    """One memory of an import. Its key identifies it within the import."""

    place: str
    key: str
    memory: Memory
    in_use: bool = True

    def keys(self, slugs: Iterable[str]) -> tuple[str, ...]:
        """The keys of other items, by their slugs in the source."""
        return tuple(f"{self.memory.scope}/{slug}" for slug in slugs)

    @property
    def supersedes(self) -> tuple[str, ...]:
        return self.keys(self.memory.supersedes)


def _take(tx: MemoryWriter, found: Sequence[tuple[str, Memory]], scope: Scope, actor: str, result: Imported) -> None:
    everything = tx.all(archived=True)
    hidden = hidden_by(everything)
    present = {_identity(memory): memory for memory in everything}
    in_use = {_identity(m): m for m in everything if m.archived is None and m.slug not in hidden}
    called = {memory.name.casefold(): memory.slug for memory in in_use.values()}
    slugs: dict[str, str] = {}
    added: dict[str, Memory] = {}
    items = _acceptable(_items(found), result)
    for item in items:
        memory, identity = item.memory, _identity(item.memory)
        twin = in_use.get(identity) if item.in_use else in_use.get(identity) or present.get(identity)
        if twin is not None:
            result.known += 1
            slugs[item.key] = twin.slug
            continue
        new = slugs[item.key] = tx.new_slug(memory.name)
        created = tx.now if memory.created == _EPOCH else memory.created
        updated = tx.now if memory.updated == _EPOCH else memory.updated
        memory = replace(memory, slug=new, scope=scope, created=created, updated=updated, revision=1)
        tx.put(replace(memory, supersedes=(), derived_from=()))
        added[new] = present[identity] = memory
        if item.in_use:
            if other := called.get(memory.name.casefold()):
                result.alike.append(
                    f"{item.place}: {memory.name!r} is what {other} is called, too; it is kept as {new}"
                )
            in_use[identity] = memory
            called.setdefault(memory.name.casefold(), new)
    for item in items:
        _link(tx, item, slugs, added)
    if added:
        tx.record("import", actor=actor, note=f"{len(added)} memories")
    result.added += added.values()
    result.out_of_use += len(added.keys() & {slugs[item.key] for item in items if not item.in_use})


def _items(found: Iterable[tuple[str, Memory]]) -> list[_Item]:
    """The items, with whether each is in use in its source."""
    items: dict[str, _Item] = {}
    for number, (place, memory) in enumerate(found):
        named = f"{memory.scope}/{memory.slug}"
        key = named if memory.slug != "-" and named not in items else f"#{number}"
        items[key] = _Item(place, key, memory)
    hidden = hidden_by(replace(item.memory, slug=item.key, supersedes=item.supersedes) for item in items.values())
    for item in items.values():
        item.in_use = item.memory.archived is None and item.key not in hidden
    return list(items.values())


def _acceptable(items: Sequence[_Item], result: Imported) -> list[_Item]:
    """The items without those that may not be remembered, and without errors whose correction may not."""
    accepted = []
    for item in items:
        try:
            guard.checked(item.memory)
            accepted.append(item)
        except OutliveError as error:
            result.refused.append(f"{item.place}: {error}")
    while True:
        corrected = {key for item in accepted if item.memory.archived is None for key in item.supersedes}
        bare = [i for i in accepted if not (i.in_use or i.memory.archived or i.key in corrected)]
        if not bare:
            return accepted
        result.refused += [f"{item.place}: it was superseded, by what is refused" for item in bare]
        gone = {item.key for item in bare}
        accepted = [item for item in accepted if item.key not in gone]


def _link(tx: MemoryWriter, item: _Item, slugs: Mapping[str, str], added: dict[str, Memory]) -> None:
    """Restore its links to superseded and source memories, under the slugs that they have here."""
    slug = slugs[item.key]
    olds, sources = (
        tuple(dict.fromkeys(slugs[key] for key in keys if key in slugs and slugs[key] != slug))
        for keys in (item.supersedes, item.keys(item.memory.derived_from))
    )
    if slug in added:
        added[slug] = replace(added[slug], supersedes=olds, derived_from=sources)
        tx.put(added[slug])
        return
    now = tx.get(slug)  # it was there already; what it superseded elsewhere comes in as superseded
    more = tuple(old for old in olds if old in added and now is not None and old not in now.supersedes)
    edges = {new: memory.supersedes for new, memory in added.items()}
    if now is not None and more and not any(slug in reach(old, edges) for old in more):
        tx.put(replace(now, supersedes=(*now.supersedes, *more), revision=now.revision + 1))


def _from_line(form: Any) -> Memory:
    """A memory from a JSON object. Only the name and one of description and body are required; `keys` may be one
    `key`."""
    if not isinstance(form, dict):
        raise InvalidMemory("it is not a JSON object")
    given = {name: form[name] for name in (*_FIELDS, *_LINKS) if form.get(name) not in (None, "")}
    if given.setdefault("type", "project") not in KINDS:
        raise InvalidMemory(f"the type {given['type']!r} is none of {', '.join(KINDS)}")
    created = given.setdefault("created", _EPOCH)
    given["keys"] = [*_listed(form.get("keys")), *_listed(form.get("key"))]
    memory = msgspec.convert({"slug": "-", "updated": created, **given}, Memory, strict=False)
    return in_utc(
        replace(
            memory,
            name=memory.name.strip(),
            description=memory.description.strip() or first_line(memory.body),
            keys=tuple(dict.fromkeys(filter(None, memory.keys))),
        )
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _forms(raw: bytes, where: str) -> Iterator[tuple[str, Any]]:
    raw = raw.removeprefix(BOM_UTF8)
    if raw.lstrip()[:1] == b"[":
        yield from ((f"{where}, item {n}", form) for n, form in enumerate(_decoded(raw, where), start=1))
        return
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.strip():
            place = f"{where}, line {number}"
            yield place, _decoded(line, place)


def _decoded(raw: bytes, place: str) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedRecord(f"{place}: not valid JSON ({error}). Nothing was imported.") from None


def _identity(memory: Memory) -> tuple[object, ...]:
    return memory.name.casefold(), tuple(memory.description.split()), tuple(memory.body.split()), memory.date
