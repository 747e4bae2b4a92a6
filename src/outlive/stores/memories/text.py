"""A memory as a Markdown file with YAML frontmatter, and back, exactly.

What we write is YAML that any reader understands, kept so plain that we can read it line by line: a value is a word
or two that YAML takes for text, or JSON. Anything else in a file, written by a person or another tool,
is read by PyYAML with its base loader, which makes nothing but text, lists and mappings. The body follows the second
`---` and an empty line, byte for byte, and a line end that is not part of it.
"""

import json
import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from outlive.errors import DamagedRecord
from outlive.stores.memories.records import (
    FORMAT_VERSION,
    KINDS,
    MAX_MEMORY_BYTES,
    Memory,
    OversizedMemory,
    Provenance,
    as_utc,
    check_version,
    unmarked,
)

MAX_YAML_CHARS = 16_000
"""Characters of a frontmatter written by hand; the parser is slow for some longer ones."""
_FENCE = "---"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ ./-][A-Za-z0-9_]+)*")
_UNPLAIN = re.compile(r"(?i)y|n|yes|no|on|off|true|false|null")
"""Words that YAML takes for something else than text."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON leaves as it is and YAML does not take, or takes for a line end."""
_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*): (.+)")
_MAX_NODES = 2_000  # YAML aliases can make a small text huge
_KEYS = (
    *("name", "description", "type", "scope", "keys", "date", "provenance", "created", "updated"),
    *("supersedes", "derived_from", "archived", "revision", "version"),
)
_OBSOLETE = ("last_used",)
"""Keys of older versions: read over, and not written again."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def render(memory: Memory) -> bytes:
    """The bytes of its file."""
    form: dict[str, Any] = msgspec.to_builtins(unmarked(memory))
    known = {key: form[key] for key in _KEYS if key not in ("version", "provenance")}
    known["provenance"] = {"who": memory.provenance.who, **form["provenance"]}
    order = [key for key in _KEYS if key in ("name", "description", "type", "scope") or known.get(key)]
    lines = [f"{key}: {_value(known[key])}" for key in order if key != "version"]
    lines += [f"version: {FORMAT_VERSION}"]
    lines += [f"{_value(key)}: {_json(value)}" for key, value in memory.extra.items() if key not in _KEYS]
    raw = f"{_FENCE}\n{chr(10).join(lines)}\n{_FENCE}\n\n{memory.body}\n".encode()
    if len(raw) > MAX_MEMORY_BYTES:
        raise OversizedMemory(
            f"the memory {memory.name[:60]!r} has {len(raw):,} bytes, the limit is {MAX_MEMORY_BYTES:,}; "
            "keep the text in a file and remember where it is"
        )
    return raw


def parse(raw: bytes, *, slug: str, where: str, written: datetime = _EPOCH) -> Memory:
    """Read such a file, or one written by hand; `written` is the date of a file without one."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise DamagedRecord(f"{where}: not UTF-8 text ({error.reason} at byte {error.start})") from None
    text = text.removeprefix("\ufeff")
    if text.startswith(f"{_FENCE}\r\n"):
        text = text.replace("\r\n", "\n")  # saved by an editor that ends all lines so
    front, body = _split(text, where)
    form = _quick(front)
    if form is None:
        form = _yaml(front, where)
    check_version(form.get("version") or FORMAT_VERSION, where)
    try:
        return _memory(form, body, slug, written)
    except (msgspec.ValidationError, ValueError, OverflowError) as error:
        raise DamagedRecord(f"{where}: {error}") from None


def _split(text: str, where: str) -> tuple[str, str]:
    if not re.match(r"---[ \t]*\n", text):
        return "", text.removesuffix("\n")
    start = text.index("\n") + 1
    end = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE).search(text, start)
    if end is None:
        raise DamagedRecord(f"{where}: the frontmatter has no end; put --- on a line of its own after it")
    return text[start : end.start()], text[end.end() :].removeprefix("\n").removesuffix("\n")


def _quick(front: str) -> dict[str, Any] | None:
    """The frontmatter if it is in our own plain form, else None."""
    form: dict[str, Any] = {}
    for line in front.split("\n"):
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None or match[1] in form:
            return None
        key, value = match[1], match[2]
        if value[0] in '"[{':
            try:
                form[key] = msgspec.json.decode(value)
            except (msgspec.DecodeError, RecursionError):
                return None
        elif _is_plain(value) or _MOMENT.fullmatch(value) or value.isdecimal():
            form[key] = value
        else:
            return None
    return form


def _yaml(front: str, where: str) -> dict[str, Any]:
    import yaml

    if len(front) > MAX_YAML_CHARS:
        raise DamagedRecord(
            f"{where}: the frontmatter has {len(front):,} characters, at most {MAX_YAML_CHARS:,} can be"
        )
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        form = yaml.load(front, Loader=loader)  # noqa: S506 - the base loader makes text, lists and mappings only
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = "an unresolved git conflict" if "<<<<<<<" in front else " ".join(str(error).split())
        raise DamagedRecord(f"{where}: the frontmatter is not YAML ({reason})") from None
    if form in (None, ""):
        return {}
    if not isinstance(form, dict):
        raise DamagedRecord(f"{where}: the frontmatter is not a list of `key: value` lines")
    _refuse_bombs(form, where)
    return form


def _refuse_bombs(form: Any, where: str) -> None:
    """Refuse frontmatter that aliases expand without bound."""
    pending, seen = [form], 0
    while pending:
        value = pending.pop()
        seen += 1
        if seen > _MAX_NODES:
            raise DamagedRecord(f"{where}: the frontmatter has more than {_MAX_NODES} values")
        if isinstance(value, dict):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            pending += value


def _memory(form: dict[str, Any], body: str, slug: str, written: datetime) -> Memory:
    """Raises ValueError or msgspec.ValidationError for a value that is not of its kind."""
    nested = form.get("metadata") if isinstance(form.get("metadata"), dict) else {}
    kind = _text(form, "type") or str((nested or {}).get("type") or "project")
    if kind not in KINDS:
        raise ValueError(f"the type {kind!r} is none of {', '.join(KINDS)}")
    created = _moment(form, "created") or written
    fields = {
        "slug": slug,
        "name": _text(form, "name") or slug,
        "description": _text(form, "description"),
        "type": kind,
        "scope": _text(form, "scope") or "project",
        "body": body,
        "keys": _texts(form, "keys"),
        "date": _text(form, "date"),
        "provenance": _provenance(form),
        "created": created,
        "updated": _moment(form, "updated") or max(created, written),
        "supersedes": _texts(form, "supersedes"),
        "derived_from": _texts(form, "derived_from"),
        "archived": _moment(form, "archived"),
        "revision": _text(form, "revision") or 1,
        "extra": {str(key): value for key, value in form.items() if key not in (*_KEYS, *_OBSOLETE)},
    }
    return msgspec.convert(fields, Memory, strict=False)


def _provenance(form: dict[str, Any]) -> Provenance:
    value = form.get("provenance") or {}
    try:
        return msgspec.convert({"who": value} if isinstance(value, str) else value, Provenance, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"provenance: {error}") from None


def _text(form: dict[str, Any], key: str) -> str:
    value = form.get(key, "")
    if value is None or isinstance(value, (str, int, float)):
        return "" if value is None else str(value)
    raise ValueError(f"{key} is not text")


def _texts(form: dict[str, Any], key: str) -> tuple[str, ...]:
    value = form.get(key) or []
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{key} is not a list of words")
    return tuple(value)


def _moment(form: dict[str, Any], key: str) -> datetime | None:
    text = _text(form, key)
    try:
        return as_utc(datetime.fromisoformat(text)) if text else None
    except ValueError:
        raise ValueError(f"{key} is {text!r}, which is not a date and time") from None


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and not _UNPLAIN.fullmatch(text)


def _value(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and (_is_plain(value) or _MOMENT.fullmatch(value)):
        return value
    return _json(value)


def _json(value: Any) -> str:
    """On one line; what YAML does not take is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
