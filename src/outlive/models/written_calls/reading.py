"""Tool calls that a model wrote into its text instead of calling.

Local servers often pass on the raw text of a model: JSON with or without a fence, a call in Python's syntax, ReAct's
`Action:` lines, or the markers of its family (`markers.py`). A text counts as calls if it is unambiguous:
everything in it that looks like a call names a known tool, fits its schema, is not quoted, and does not occur in a
text that the model has read. Otherwise `calls_in` returns the reason, and the model is told.
"""

import json
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from outlive.models.protocol import NearCall
from outlive.models.repair import FENCE, MAX_TEXT_CHARS, Input, object_at, read_arguments
from outlive.models.written_calls.forms import Schemas, decode, keyed, keyword_arguments, named, problem_with, typed
from outlive.models.written_calls.markers import CLOSING, NAME, PARAMETER, TEMPLATE_TOKEN, Markers, markers

MAX_DECODED_CHARS = 4 * MAX_TEXT_CHARS
"""Characters that are decoded in search of calls."""
MAX_CALLS = 32  # of one answer: more are a runaway model's, and none is run
MAX_INDENT = 16
"""Characters of white space before a call in Python's syntax."""
_HEAD = re.compile(
    r"""\{{1,2}\s*+["'“](?:name|type|function|action|tool(?:_name|_calls)?)["'”]\s*+:\s*+(?:["'“]([\w.-]{1,64})["'”])?"""
)
_OBJECT = re.compile(r"""\{{1,2}\s*+["'“]""")
_TOOL_FENCE = re.compile(r"```(?:tool_code|tool_call|tool)?\s*+$")
_NEXT_PARAMETER = "\n<parameter="
_FUNCTION_END = re.compile(r"\n?</function>")
_REST_OF_LINE = re.compile(r"[\])]?[ \t]*+(?=\n|$|<|```)")
_FORMATTING = str.maketrans("", "", " \t\r\n\\{}[]\"'`")


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
    keyed: bool = False
    """Whether it is `{"tool": {…}}`, which counts only after a marker."""


def calls_in(text: str, tools: Schemas, given: Iterable[str] = ()) -> FoundCalls:
    """Find the calls in a text. `tools` are input schemas by name, `given` the texts that the model has read."""
    if len(text) > MAX_TEXT_CHARS or not tools:
        return FoundCalls()
    start = _after_thought(text)
    marks = markers(tools)
    pieces = _Search(text, tools, marks).pieces(start)
    if not pieces:
        return FoundCalls()
    if any(_is_quoted(text, pieces, at, marks) for at in range(len(pieces))):
        return FoundCalls(near=NearCall("it is quoted in a text", may_be_prose=True))
    if near := next((piece.near for piece in pieces if piece.near), None):
        return FoundCalls(near=near)
    if _has_text_between(text, pieces, marks):
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

    def __init__(self, text: str, tools: Schemas, marks: Markers) -> None:
        self.text = text
        self.tools = tools
        self.marks = marks
        self.work = MAX_DECODED_CHARS

    def pieces(self, at: int) -> list[_Piece]:
        """Everything that looks like a call, in order."""
        found: list[_Piece] = []
        while opening := self.marks.opening.search(self.text, at):
            if self.work <= 0 or len(found) == MAX_CALLS:
                return [_Piece(at, at, near=NearCall("there is too much in the text that looks like one"))]
            piece = self._piece(opening)
            if piece is not None and (piece.calls or piece.near):
                found.append(piece)
            at = max(opening.start() + 1, opening.end(), piece.end if piece else 0)
        return found

    def _piece(self, opening: re.Match[str]) -> _Piece | None:
        if opening[0] == "{":
            return self._json(opening.start())
        if opening["python"] is not None:
            return self._python(opening)
        return self._marked(opening.start(), after=opening.end())

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
            value, end = decode(text, single)
            self.work -= end - at
            return value, end
        except json.JSONDecodeError as error:
            self.work -= error.pos - at + at // 32  # making the error counts the lines before it
        except (ValueError, RecursionError):
            self.work -= len(text) - at
        if not _HEAD.match(text, at):
            return None, 0
        closing = CLOSING.search(text, at)
        chunk = text[: closing.start() if closing else len(text)]
        self.work -= 2 * (len(chunk) - at)
        found = object_at(chunk, single) or (object_at(chunk, at, doubled=True) if single > at else None)
        return found or (None, 0)

    def _marked(self, at: int, after: int) -> _Piece:
        """The call after a marker: JSON, or a name followed by JSON, parameters or arguments in brackets."""
        text = self.text
        begin = _end(self.marks.skipped, text, after)
        name = NAME.match(text, begin)
        if name is None:
            piece = self._json(begin) if text.startswith("{", begin) else None
            if piece is None:
                return _Piece(at, begin)
            near = None if piece.keyed else piece.near
            if not piece.calls and not near:
                near = NearCall("its JSON is not a call", may_be_prose=True)
            return _Piece(at, piece.end, piece.calls, near, marked=True)
        if text.startswith("(", name.end()):
            value, end = keyword_arguments(text, name.end() + 1)
            self.work -= 2 * ((end or len(text)) - name.end())
        else:
            begin = _end(self.marks.skipped, text, name.end())
            value, end = self._object(begin) if text.startswith("{", begin) else self._parameters(name[1], begin)
        if not end:
            reason = f"the arguments of the call to {name[1]} cannot be read"
            return _Piece(at, name.end(), near=NearCall(reason, may_be_prose=name[1] not in self.tools))
        piece = self._judged(at, end, {"name": name[1], "arguments": value})
        return _Piece(at, end, piece.calls, piece.near, marked=True)

    def _python(self, opening: re.Match[str]) -> _Piece | None:
        """`tool(key="value")` alone on its lines; elsewhere it is code or a word in a sentence."""
        text, at = self.text, opening.start()
        _, newline, line = text[max(0, at - MAX_INDENT) : at].rpartition("\n")
        name = NAME.match(text, opening.end())
        if name is None or line.strip(" \t>") or not (newline or at <= MAX_INDENT):
            return None
        value, end = keyword_arguments(text, name.end() + 1)
        self.work -= 2 * ((end or len(text)) - at)
        if not end or not _REST_OF_LINE.match(text, end):
            return None
        if text.count(FENCE, 0, at) % 2 and not _TOOL_FENCE.search(text[max(0, at - 32) : at]):
            return _Piece(at, end, near=NearCall("it is code in a fence", may_be_prose=True))
        return self._judged(at, end, {"name": name[1], "arguments": value})

    def _parameters(self, tool: str, at: int) -> tuple[object, int]:
        """`<parameter=x>value</parameter>…` or `<arg_key>x</arg_key><arg_value>value</arg_value>…`, and their end."""
        text, values = self.text, dict[str, object]()
        properties = self.tools.get(tool, {}).get("properties", {})
        while opening := PARAMETER.match(text, at):
            key = (opening["parameter"] or opening["key"] or opening["tag"]).strip()
            if key in values or (opening["tag"] and key not in properties):
                return None, 0
            value, at = self._parameter(opening, key)
            if not at:
                return None, 0
            values[key] = typed(value, properties.get(key, {}))
        return (values, at) if values else (None, 0)

    def _parameter(self, opening: re.Match[str], key: str) -> tuple[str, int]:
        """The text of a parameter and its end; 0 if it does not end, or could end in several places."""
        text, at = self.text, opening.end()
        prefix = "｜DSML｜" if opening["dsml"] else ""
        closing = (
            f"</{prefix}parameter>" if opening["parameter"] else "</arg_value>" if opening["key"] else f"</{key}>"
        )
        end = text.find(closing, at)
        after = end + len(closing)
        if end < 0 and opening["parameter"] and (found := _FUNCTION_END.search(text, at)):
            end = after = found.start()
        if end < 0 or (opening["parameter"] and text.find(_NEXT_PARAMETER, at, end) >= 0):
            return "", 0
        return text[at:end], after

    def _judged(self, start: int, end: int, value: object) -> _Piece:
        """A piece with the calls in a value, or with the problem in them; empty for any other object."""
        forms = value["tool_calls"] if isinstance(value, dict) and value.keys() == {"tool_calls"} else [value]
        calls: list[Written] = []
        by_key = False
        for form in forms if isinstance(forms, list) else ():
            found = named(form, self.tools) or keyed(form, self.tools)
            if found is None:
                return _Piece(start, end)
            by_key = by_key or named(form, self.tools) is None
            call = Written(self._known(found[0]), read_arguments(found[1]))
            if problem := problem_with(call.name, call.input, self.tools):
                return _Piece(start, end, near=NearCall(problem, may_be_prose=by_key))
            calls.append(call)
        near = NearCall("its key is the name of a tool, but it may be data", may_be_prose=True) if by_key else None
        return _Piece(start, end, tuple(calls), near, keyed=by_key)

    def _known(self, name: str) -> str:
        """The tool's name, without additions of some models (`functions.bash:0`)."""
        found = NAME.fullmatch(name) if name not in self.tools else None
        return found[1] if found else name


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _after_thought(text: str) -> int:
    """The index after `<think>…</think>`; some servers drop the opening tag."""
    end = text.find("</think>")
    return end + len("</think>") if end >= 0 else 0


def _is_quoted(text: str, pieces: Sequence[_Piece], at: int, marks: Markers) -> bool:
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
    return not (marks.between.fullmatch(inside) and marks.between.fullmatch(after))


def _has_text_between(text: str, pieces: Sequence[_Piece], marks: Markers) -> bool:
    """Whether prose separates calls, which may then be alternatives, or follow invented results."""
    for one, other in pairwise(pieces):
        between = text[one.end : other.start]
        if "<tool_response" in between or not ((one.marked and other.marked) or marks.between.fullmatch(between)):
            return True
    return False


def _words_before(text: str) -> str:
    """The text before a call, without the fence, bracket or tokens that open it."""
    text = TEMPLATE_TOKEN.sub("", text).rstrip(" \t\n[{")
    head, fence, language = text.rpartition(FENCE)
    return (head if fence and re.fullmatch(r"\w{0,12}", language) else text).strip()
