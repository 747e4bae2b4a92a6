"""Tool calls that a model wrote into its text instead of calling.

Local servers often pass on the raw text of a model: JSON with or without a fence, or the markers of its family
(Hermes and Qwen `<tool_call>`, Qwen coder and Llama `<function=…>`, GLM `<arg_key>`, Mistral `[TOOL_CALLS]`, Llama
`<|python_tag|>`, DeepSeek and Kimi tokens). A text counts as calls if it is unambiguous: everything in it that looks
like a call names a known tool, fits its schema, is not quoted, and does not occur in a text that the model has read.
Otherwise `calls_in` returns the reason, and the model is told.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from outlive.models.protocol import UNREADABLE_KEY, NearCall
from outlive.models.repair import FENCE, MAX_TEXT_CHARS, Input, object_at, read_arguments

Schemas = Mapping[str, Mapping[str, Any]]
MAX_DECODED_CHARS = 4 * MAX_TEXT_CHARS
"""Characters that are decoded in search of calls."""
MAX_CALLS = 32
_OPENERS = (
    r"<tool_calls?>|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_calls_section_begin\|>|<\|tool_call_begin\|>"
    r"|<｜tool▁calls?▁begin｜>"
)
_INNER = r"\[ARGS\]|<\|tool_call_argument_begin\|>|(?:function)?<｜tool▁sep｜>"
_CLOSERS = r"</tool_calls?>|</function>|<\|tool_calls_section_end\|>|<\|tool_call_end\|>|<｜tool▁calls?▁end｜>"
_OPENING = re.compile(rf"{_OPENERS}|\{{")
_CLOSING = re.compile(rf"{_CLOSERS}|```")
_SKIPPED = re.compile(rf"(?:\s|{_OPENERS}|{_INNER}|```(?:json)?\n|[\[>])*+")
_BETWEEN = re.compile(rf"(?:\s|{_OPENERS}|{_CLOSERS}|```(?:json)?|[\[\]{{}},;>])*+")
_NAME = re.compile(r"(?:functions\.)?([A-Za-z_][\w.-]{0,63})(?::\d{1,4})?")
_PARAMETER = re.compile(r"\s*+(?:<parameter=([^>\n]{1,64})>|<arg_key>([^<\n]{1,64})</arg_key>\s*+<arg_value>)")
_HEAD = re.compile(r"""\{{1,2}\s*+["'](?:name|type|function|tool_calls)["']\s*+:\s*+(?:["']([\w.-]{1,64})["'])?""")
_OBJECT = re.compile(r"""\{{1,2}\s*+["']""")
_KEYS = {"name", "arguments", "parameters", "type", "id"}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, str),
    "number": (int, float, str),
    "boolean": (bool, str),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_FORMATTING = str.maketrans("", "", " \t\r\n\\{}[]\"'`")
_decode = json.JSONDecoder(strict=False).raw_decode


class Written(Struct, frozen=True):
    """A call in a text."""

    name: str
    input: Input


class FoundCalls(Struct, frozen=True):
    """The `calls` of a text and the text `before` them, or why something similar is not a call.

    Text after the calls is dropped: models write invented results there.
    """

    calls: tuple[Written, ...] = ()
    before: str = ""
    near: NearCall | None = None


class _Piece(Struct, frozen=True):
    """A part of the text that looks like a call."""

    start: int
    end: int
    calls: tuple[Written, ...] = ()
    near: NearCall | None = None
    marked: bool = False


def calls_in(text: str, tools: Schemas, given: Iterable[str] = ()) -> FoundCalls:
    """Find the calls in a text. `tools` are input schemas by name, `given` the texts that the model has read."""
    if len(text) > MAX_TEXT_CHARS or not tools:
        return FoundCalls()
    start = _after_thought(text)
    pieces = _Search(text, tools).pieces(start)
    if not pieces:
        return FoundCalls()
    if any(_is_quoted(text, pieces, at) for at in range(len(pieces))):
        return FoundCalls(near=NearCall("it is quoted in a text", may_be_prose=True))
    if near := next((piece.near for piece in pieces if piece.near), None):
        return FoundCalls(near=near)
    if _has_text_between(text, pieces):
        return FoundCalls(near=NearCall("there is other text between several calls"))
    read = [text.translate(_FORMATTING) for text in given]
    for piece in pieces:
        written = text[piece.start : piece.end].translate(_FORMATTING)
        if any(written in text for text in read):
            return FoundCalls(near=NearCall("it is copied from a text that was read", may_be_prose=True))
    calls = tuple(call for piece in pieces for call in piece.calls)
    return FoundCalls(calls, _words_before(text[start : pieces[0].start]))


class _Search:
    """One pass over a text; `work` limits the characters that are decoded."""

    def __init__(self, text: str, tools: Schemas) -> None:
        self.text = text
        self.tools = tools
        self.work = MAX_DECODED_CHARS

    def pieces(self, at: int) -> list[_Piece]:
        """Everything that looks like a call, in order."""
        found: list[_Piece] = []
        while opening := _OPENING.search(self.text, at):
            if self.work <= 0 or len(found) == MAX_CALLS:
                return [_Piece(at, at, near=NearCall("there is too much in the text that looks like one"))]
            piece = self._json(opening.start()) if opening[0] == "{" else self._marked(opening.start())
            if piece is not None and (piece.calls or piece.near):
                found.append(piece)
            at = max(opening.end(), piece.end if piece else 0)
        return found

    def _json(self, at: int) -> _Piece | None:
        """The call at a brace; an empty piece for another object, whose content is skipped."""
        if not _OBJECT.match(self.text, at):
            return None
        value, end = self._object(at)
        if end:
            return self._judged(at, end, value)
        head = _HEAD.match(self.text, at)
        if head and self._known(head[1] or "") in self.tools:
            return _Piece(at, head.end(), near=NearCall(f"the JSON of the call to {head[1]} is not valid"))
        return None

    def _object(self, at: int) -> tuple[object, int]:
        """The object at a brace and its end, 0 if invalid; repaired only if it looks like a call."""
        text = self.text
        single = at + 1 if text.startswith("{{", at) else at
        try:
            value, end = _decode(text, single)
            self.work -= end - at
            return value, end
        except json.JSONDecodeError as error:
            self.work -= error.pos - at + at // 32  # making the error counts the lines before it
        except (ValueError, RecursionError):
            self.work -= len(text) - at
        if not _HEAD.match(text, at):
            return None, 0
        closing = _CLOSING.search(text, at)
        chunk = text[: closing.start() if closing else len(text)]
        self.work -= 2 * (len(chunk) - at)
        found = object_at(chunk, single) or (object_at(chunk, at, doubled=True) if single > at else None)
        return found or (None, 0)

    def _marked(self, at: int) -> _Piece:
        """The call after a marker: JSON, or a name followed by JSON or parameters."""
        text = self.text
        begin = _end(_SKIPPED, text, at)
        name = _NAME.match(text, begin)
        if name is None:
            piece = self._json(begin) if text.startswith("{", begin) else None
            if piece is None:
                return _Piece(at, begin)
            near = piece.near
            if not piece.calls and not near:
                near = NearCall("its JSON is not a call", may_be_prose=True)
            return _Piece(at, piece.end, piece.calls, near, marked=True)
        begin = _end(_SKIPPED, text, name.end())
        value, end = self._object(begin) if text.startswith("{", begin) else self._parameters(name[1], begin)
        if not end:
            reason = f"the arguments of the call to {name[1]} cannot be read"
            return _Piece(at, name.end(), near=NearCall(reason, may_be_prose=name[1] not in self.tools))
        piece = self._judged(at, end, {"name": name[1], "arguments": value})
        return _Piece(at, end, piece.calls, piece.near, marked=True)

    def _parameters(self, tool: str, at: int) -> tuple[object, int]:
        """`<parameter=x>value</parameter>…` or `<arg_key>x</arg_key><arg_value>value</arg_value>…`, and their end."""
        text, values = self.text, dict[str, object]()
        properties = self.tools.get(tool, {}).get("properties", {})
        while opening := _PARAMETER.match(text, at):
            closing = "</parameter>" if opening[1] else "</arg_value>"
            end = text.find(closing, opening.end())
            key = (opening[1] or opening[2]).strip()
            if end < 0 or key in values:
                return None, 0
            values[key] = _typed(text[opening.end() : end], properties.get(key, {}))
            at = end + len(closing)
        return (values, at) if values else (None, 0)

    def _judged(self, start: int, end: int, value: object) -> _Piece:
        """A piece with the calls in a value, or with the problem in them; empty for any other object."""
        forms = value["tool_calls"] if isinstance(value, dict) and value.keys() == {"tool_calls"} else [value]
        calls: list[Written] = []
        for form in forms if isinstance(forms, list) else ():
            named = _named(form)
            if named is None:
                return _Piece(start, end)
            call = Written(self._known(named[0]), read_arguments(named[1]))
            if problem := self._problem(call):
                return _Piece(start, end, near=NearCall(problem))
            calls.append(call)
        return _Piece(start, end, tuple(calls))

    def _known(self, name: str) -> str:
        """The tool's name, without additions of some models (`functions.bash:0`)."""
        found = _NAME.fullmatch(name) if name not in self.tools else None
        return found[1] if found else name

    def _problem(self, call: Written) -> str:
        """Why a call does not fit the schema of its tool."""
        schema = self.tools.get(call.name)
        if schema is None:
            return f"there is no tool {call.name[:64]!r}"
        if UNREADABLE_KEY in call.input:
            return f"the arguments of the call to {call.name} are not a JSON object"
        properties = schema.get("properties", {})
        if missing := [name for name in schema.get("required", ()) if name not in call.input]:
            return f"the call to {call.name} lacks {', '.join(missing)}"
        for key, value in call.input.items():
            if key not in properties:
                return f"{call.name} has no argument {key[:64]!r}"
            if not isinstance(value, _types(properties[key])):
                return f"{key} of the call to {call.name} has the wrong type"
        return ""


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _named(form: object) -> tuple[str, object] | None:
    """Name and arguments of an object with the shape of a call."""
    if not isinstance(form, dict):
        return None
    inner = form.get("function")
    if isinstance(inner, dict) and form.keys() <= {"type", "id", "function"}:
        form = inner
    name, given = form.get("name"), form.get("arguments", form.get("parameters"))
    shaped = isinstance(name, str) and isinstance(given, (dict, str)) and form.keys() <= _KEYS
    return (str(name), given) if shaped else None


def _types(schema: Mapping[str, Any]) -> tuple[type, ...]:
    """The Python types that a property may have; numbers may come as text."""
    parts = schema.get("anyOf") or [schema]
    return tuple(kind for part in parts for kind in _TYPES.get(part.get("type", ""), (object,)))


def _typed(text: str, schema: Mapping[str, Any]) -> object:
    """The value of a parameter between tags: JSON, unless its type is string."""
    text = text.removeprefix("\n").removesuffix("\n")
    if schema.get("type") == "string":
        return text
    try:
        value, end = _decode(text.strip())
    except (ValueError, RecursionError):
        return text
    return value if end == len(text.strip()) else text


def _after_thought(text: str) -> int:
    """The index after `<think>…</think>`; some servers drop the opening tag."""
    end = text.find("</think>")
    return end + len("</think>") if end >= 0 else 0


def _is_quoted(text: str, pieces: Sequence[_Piece], at: int) -> bool:
    """Whether a call is quoted: between quotes, in a `>` line, or in a fence with more than calls."""
    start, end = pieces[at].start, pieces[at].end
    before = text[pieces[at - 1].end if at else 0 : start]
    line = before.rpartition("\n")[2].lstrip()
    if line.startswith(">") or (line.endswith(("`", '"', "'", "“")) and not line.endswith(FENCE)):
        return True
    if text.count(FENCE, 0, start) % 2 == 0:
        return False
    _, fence, inside = before.rpartition(FENCE)
    if fence and (line_end := inside.find("\n")) >= 0:
        inside = inside[line_end:]  # without the language of the fence
    elif fence:
        inside = ""
    after = text[end : pieces[at + 1].start if at + 1 < len(pieces) else len(text)].partition(FENCE)[0]
    return not (_BETWEEN.fullmatch(inside) and _BETWEEN.fullmatch(after))


def _has_text_between(text: str, pieces: Sequence[_Piece]) -> bool:
    """Whether prose separates calls, which may then be alternatives, or follow invented results."""
    for one, other in pairwise(pieces):
        between = text[one.end : other.start]
        if "<tool_response" in between or not ((one.marked and other.marked) or _BETWEEN.fullmatch(between)):
            return True
    return False


def _words_before(text: str) -> str:
    """The text before a call, without the fence or bracket that opens it."""
    text = text.rstrip(" \t\n[{")
    head, fence, language = text.rpartition(FENCE)
    return (head if fence and (not language or language.isalnum()) else text).strip()
