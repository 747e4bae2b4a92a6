"""Entries of ours in a settings file of the user: everything else in it stays as it is, and stays in its order."""

import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

from outlive.clients import KEEP_RESULT
from outlive.clients.setup.changes import SetupRefused

BEGIN, END = "# >>> outlive", "# <<< outlive"
"""Lines around a part of a TOML file that is ours, for people."""
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
    before = _without_tables(path, data or b"")
    form: Any = _loads_toml(path, before)
    for name in filter(None, table.split(".")):
        form = form.get(name, {}) if isinstance(form, dict) else {}
    if form and table:
        raise SetupRefused(
            f"{path}: has a table [{table}] that outlive did not write; nothing was changed",
            hint="give it another name, then try again",
        )
    gap = b"" if not before or before.endswith(b"\n\n") else b"\n" if before.endswith(b"\n") else b"\n\n"
    return before + gap + f"{BEGIN}\n{text.strip()}\n{END}\n".encode()


def without_toml(path: Path, data: bytes) -> bytes | None:
    """The file without our tables; None if nothing else is in it."""
    return _without_tables(path, data) or None


def _without_tables(path: Path, data: bytes) -> bytes:
    """The file without our marks and tables. Raises SetupRefused unless all else in it stays the same.

    A table is ours by its content: a client that writes its settings drops our marks, or puts tables between them.
    """
    form = _loads_toml(path, data)
    server = _is_our_server(form)
    lines = [line for line in data.decode().splitlines(keepends=True) if line.rstrip() not in (BEGIN, END)]
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    kept: list[str] = []
    for start, end in pairwise([0, *starts, len(lines)]):
        part = lines[start:end]
        if _is_our_part("".join(part), server=server):
            last = max(number for number, line in enumerate(part) if line.strip() and not line.startswith("#"))
            part = part[last + 1 :]
            if kept and not kept[-1].strip():
                kept.pop()
        kept += part
    left = "".join(kept).encode()
    if _filled(_loads_toml(path, left)) != _filled(_without_ours(form, server=server)):
        raise SetupRefused(
            f"{path}: the entries of outlive cannot be told from yours; nothing was changed",
            hint="take them out by hand, then try again",
        )
    return left


def _is_our_server(form: Json) -> bool:
    """Whether the server of our name runs `outlive mcp`."""
    servers = form.get("mcp_servers")
    server = servers.get("outlive") if isinstance(servers, dict) else None
    if not isinstance(server, dict):
        return False
    args = server.get("args")
    words = [str(word) for word in (server.get("command"), *(args if isinstance(args, list) else ()))]
    return words[-1] == "mcp" and any(Path(word).name == "outlive" for word in words)


def _is_our_part(text: str, *, server: bool) -> bool:
    """Whether a table of a file, read by itself, is ours and nothing else."""
    try:
        form = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    left = _without_ours(form, server=server)
    return left != form and not _filled(left)


def _without_ours(form: Json, *, server: bool) -> Json:
    left = dict(form)
    if server and isinstance(servers := form.get("mcp_servers"), dict):
        left["mcp_servers"] = {name: value for name, value in servers.items() if name != "outlive"}
    if isinstance(hooks := form.get("hooks"), list):
        left["hooks"] = [entry for entry in hooks if not _is_ours(entry)]
    return left


def _filled(form: Json) -> Json:
    return {name: value for name, value in form.items() if value not in ({}, [])}


def _loads_toml(path: Path, data: bytes) -> Json:
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SetupRefused(f"{path}: is not valid TOML ({error}); nothing was changed") from None


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
    """Whether an entry of a list of hooks runs `outlive hook`, or calls our server."""
    return re.search(rf'outlive\W? hook |"{KEEP_RESULT}"', json.dumps(entry)) is not None


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
