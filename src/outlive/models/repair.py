"""Repairs the nearly valid JSON that weaker models write as arguments of a tool call.

Only unambiguous text is repaired. Otherwise the arguments stay as they are and the tool reports the mistake, because
a guessed command is worse than a question. Each step reads a text once, up to `MAX_TEXT_CHARS`.
"""

import json
import re
from typing import Any, NoReturn

from outlive.models.protocol import unreadable

Input = dict[str, Any]
MAX_TEXT_CHARS = 256 * 1024
"""Characters of a text that is searched for calls or repaired; longer arguments must be valid JSON."""
FENCE = "```"
_TOKEN = re.compile(r"""("(?:[^"\\]|\\.)*+")|('(?:[^'\\]|\\.)*+')|(\{|\}|\[|\])|,|[^"'{}\[\],]++""", re.DOTALL)
_PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}
_WORD = re.compile(r"\b(?:True|False|None)\b")
_BRACKET = re.compile(r'\\.|["{}]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


def read_arguments(given: object) -> Input:
    """The input of a call. Some servers send an object instead of text; nothing means no arguments."""
    if isinstance(given, dict):
        return given
    text = given if isinstance(given, str) else "" if given is None else json.dumps(given)
    found = repaired(text) if text.strip() else {}
    return unreadable(text) if found is None else found


def repaired(text: str) -> Input | None:
    """The JSON object in `text`, repaired if that is unambiguous; else None."""
    text = unfenced(text.strip())
    try:
        value = strict_json(text)
    except (ValueError, RecursionError):
        value = _mended(text)
    if isinstance(value, str) and value.lstrip().startswith("{"):  # JSON inside a JSON string
        value = _mended(value.strip())
    return value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else None


def unfenced(text: str) -> str:
    """The content of a Markdown fence around all of `text`; else `text`."""
    if len(text) < 2 * len(FENCE) or not (text.startswith(FENCE) and text.endswith(FENCE)):
        return text
    inner = text[len(FENCE) : -len(FENCE)]
    language, _, body = inner.partition("\n")
    return (body if language.strip().isalnum() or not language.strip() else inner).strip()


def strict_json(text: str) -> object:
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def object_at(text: str, start: int = 0, *, doubled: bool = False) -> tuple[object, int] | None:
    """The repaired object at `start` and its end; None if it is ambiguous.

    Accepts single-quoted strings, Python's constants, line breaks inside strings, a comma before a closing bracket,
    and missing brackets at the end. With `doubled`, braces outside strings are doubled, as in a template.
    """
    parts: list[str] = []
    still_open: list[str] = []
    at, end = start, len(text)
    while at < end and (still_open or at == start):
        token = _TOKEN.match(text, at)
        if token is None:
            return None  # an unfinished string could continue in any way
        piece, at = token[0], token.end()
        if token[2]:
            piece = _double_quoted(piece)
        elif token[3]:
            if doubled and piece in "{}":
                if not text.startswith(piece, at):
                    return None
                at += 1
            if piece in _CLOSING:
                still_open.append(piece)
            elif not still_open or _CLOSING[still_open.pop()] != piece:
                return None
            else:
                _drop_comma(parts)
        elif not token[1]:
            piece = _WORD.sub(lambda word: _PYTHON_LITERALS[word[0]], piece)
        parts.append(piece)
    if still_open and text.rstrip()[-1] not in '"}]el':
        return None  # so could a number
    parts += (_CLOSING[bracket] for bracket in reversed(still_open))
    try:
        return json.loads("".join(parts), strict=False, parse_constant=_refuse_constant), at
    except (ValueError, RecursionError):
        return None


def _double_quoted(text: str) -> str:
    """A single-quoted string as JSON."""
    inner = text[1:-1].replace("\\'", "'")
    return '"' + re.sub(r'(\\.)|"', lambda found: found[1] or '\\"', inner, flags=re.DOTALL) + '"'


def _drop_comma(parts: list[str]) -> None:
    last = len(parts) - 1
    if last > 0 and parts[last].isspace():
        last -= 1
    if parts[last] == ",":
        del parts[last]


def _mended(text: str) -> object:
    """The repaired object in `text`; superfluous brackets or a copy of itself may follow it."""
    found = object_at(text) if len(text) <= MAX_TEXT_CHARS and text.startswith("{") else None
    if found is None:
        return None
    value, end = found
    rest = text[end:].strip()
    return value if not rest.strip("}] \n") or object_at(rest) == (value, len(rest)) else None


class Brackets:
    """Tracks the brackets of JSON that arrives in pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._begun = self._in_string = False
        self._escape = ""

    def take(self, piece: str) -> None:
        end = 0
        piece = self._escape + piece
        for token in _BRACKET.finditer(piece):
            end = token.end()
            if token[0] == '"':
                self._in_string = not self._in_string
            elif token[0] in "{}" and not self._in_string:
                self._depth += 1 if token[0] == "{" else -1
                self._begun = True
        self._escape = "\\" if piece[end:].endswith("\\") else ""

    @property
    def closed(self) -> bool:
        """Whether there is a complete object."""
        return self._begun and self._depth == 0 and not self._in_string
