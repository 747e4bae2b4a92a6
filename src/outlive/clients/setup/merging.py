"""Entries of ours in a settings file of the user: everything else in it stays as it is, and stays in its order."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from outlive.clients.setup.changes import SetupRefused

BEGIN, END = "# >>> outlive", "# <<< outlive"
"""Lines around a part of a TOML file that is ours."""
Json = dict[str, Any]


def merge_json(path: Path, data: bytes | None, ours: Json) -> bytes:
    """The file with our entries in it: objects are merged, our hooks are added to the lists or replaced in them."""
    form = _loads(path, data)
    _prune(form, ours)
    _merge(path, form, ours)
    return _dumps(form, data)


def without_json(path: Path, data: bytes, ours: Json) -> bytes | None:
    """The file without our entries; None if nothing else is in it."""
    form = _loads(path, data)
    _prune(form, ours)
    return _dumps(form, data) if form else None


def merge_toml(path: Path, data: bytes | None, table: str, text: str) -> bytes:
    """The file with a marked part of ours at its end; refused if the user has such a `table` already."""
    before = _without_part(data or b"")
    try:
        form: Any = tomllib.loads(before.decode())
        for name in filter(None, table.split(".")):
            form = form.get(name, {}) if isinstance(form, dict) else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SetupRefused(f"{path}: is not valid TOML ({error}); nothing was changed") from None
    if form and table:
        raise SetupRefused(
            f"{path}: has a table [{table}] that outlive did not write; nothing was changed",
            hint="give it another name, then try again",
        )
    gap = b"" if not before or before.endswith(b"\n\n") else b"\n" if before.endswith(b"\n") else b"\n\n"
    return before + gap + f"{BEGIN}\n{text.strip()}\n{END}\n".encode()


def without_toml(data: bytes) -> bytes | None:
    """The file without our part; None if nothing else is in it."""
    return _without_part(data) or None


def _without_part(data: bytes) -> bytes:
    return re.sub(rb"\n?^%s\n.*?^%s\n" % (BEGIN.encode(), END.encode()), b"", data, flags=re.DOTALL | re.MULTILINE)


def _merge(path: Path, form: Json, ours: Json) -> None:
    for key, value in ours.items():
        had = form.setdefault(key, type(value)())
        if type(had) is not type(value) and isinstance(value, dict | list):
            raise SetupRefused(f"{path}: {key!r} is not what it should be; nothing was changed")
        if isinstance(value, dict):
            _merge(path, had, value)
        elif isinstance(value, list):
            had.extend(value)
        else:
            form[key] = value


def _prune(form: Json, ours: Json) -> None:
    """Take out what this or an earlier version put into `form`: our hooks in any list, and what has our name."""
    for key, had in list(form.items()):
        if not had:
            continue
        if isinstance(had, list):
            had[:] = [entry for entry in had if not _is_ours(entry)]
        elif isinstance(had, dict) and key == "outlive":
            had.clear()
        elif isinstance(had, dict) and isinstance(ours.get(key), dict):
            _prune(had, ours[key])
        if not had:
            del form[key]


def _is_ours(entry: Any) -> bool:
    """Whether an entry of a list of hooks runs `outlive hook`."""
    return re.search(r"outlive\W? hook ", json.dumps(entry)) is not None


def _loads(path: Path, data: bytes | None) -> Json:
    if data is None or not data.strip():
        return {}
    try:
        form = json.loads(data)
    except ValueError as error:
        raise SetupRefused(
            f"{path}: is not valid JSON ({error}); nothing was changed", hint="correct it, then try again"
        ) from None
    if not isinstance(form, dict):
        raise SetupRefused(f"{path}: is not a JSON object; nothing was changed")
    return form


def _dumps(form: Json, like: bytes | None) -> bytes:
    """The JSON text, indented like the file."""
    found = re.search(rb"^[{]\r?\n([ \t]+)", like or b"")
    indent: str | int = found[1].decode() if found else 2
    end = "\n" if like is None or like.endswith(b"\n") else ""
    return (json.dumps(form, indent=indent, ensure_ascii=False) + end).encode()
