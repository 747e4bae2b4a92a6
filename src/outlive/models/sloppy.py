"""Tool calls as weaker models write them: arguments that are nearly JSON, calls that came as text.

Only what can be read in one way is repaired. Where a value would have to be guessed, the arguments stay as they are
and the tool answers with what is wrong, because a guessed command is worse than a question.
"""

import ast
import io
import json
import re
import tokenize
from collections.abc import Collection, Iterator
from typing import Any, NoReturn

from msgspec import Struct

from outlive.models.protocol import unreadable

Input = dict[str, Any]
_FENCED = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)\s*```", re.DOTALL)
_TAGGED = re.compile(r"\s*<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_OPENINGS = ("<tool_call>", "```", "{", "<think>")
_CLOSING = {"{": "}", "[": "]"}
_NAMING = {"name", "arguments", "parameters", "type", "id"}


class Written(Struct, frozen=True):
    """A call that was written as text."""

    name: str
    input: Input


def read_arguments(given: object) -> Input:
    """The input of a call. Some servers send an object where text belongs; nothing at all means no arguments."""
    if isinstance(given, dict):
        return given
    text = given if isinstance(given, str) else "" if given is None else json.dumps(given)
    found = repaired(text) if text.strip() else {}
    return unreadable(text) if found is None else found


def repaired(text: str) -> Input | None:
    """The JSON object that `text` is, or can only have meant to be; None when that is not clear."""
    fenced = _FENCED.fullmatch(text.strip())
    text = fenced[1] if fenced else text.strip()
    for read in (_strictly, _loosely, _in_python, _once, _closed):
        try:
            value = read(text)
        except (ValueError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
            continue
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = _again(value)
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return value
    return None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _strictly(text: str) -> object:
    return json.loads(text, parse_constant=_no_constant)


def _loosely(text: str) -> object:
    """Line breaks inside of strings, commas before a closing bracket."""
    return json.loads(_without_last_commas(text), strict=False, parse_constant=_no_constant)


def _in_python(text: str) -> object:
    """Single quotes, True and None: a dictionary as Python prints it."""
    tree = ast.parse(text, mode="eval")
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    written = [
        token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.STRING
    ]
    if len(strings) != len(written):
        raise ValueError("strings without anything between them")
    return json.loads(json.dumps(ast.literal_eval(tree), allow_nan=False))


def _once(text: str) -> object:
    """A complete object with closing brackets too many, or sent twice."""
    value, end = json.JSONDecoder(strict=False, parse_constant=_no_constant).raw_decode(text)
    rest = text[end:].strip()
    if rest.strip("}] \n") and _loosely(rest) != value:
        raise ValueError("something else follows")
    return value


def _closed(text: str) -> object:
    """An object whose last brackets are missing; one that ends inside of a string or a number could go on anyhow."""
    still_open, in_string = _open_at_end(text)
    if in_string or not still_open or text[-1] not in '"}]el':
        raise ValueError("it is not clear how it goes on")
    return _loosely(text + "".join(_CLOSING[bracket] for bracket in reversed(still_open)))


def _again(text: str) -> object:
    """JSON that was put into a string once more."""
    try:
        return _loosely(text)
    except (ValueError, RecursionError):
        return None


def _outside_strings(text: str) -> Iterator[tuple[int, str]]:
    """The characters that are not inside of a string, with their places; quotes are not among them."""
    in_string = escaped = False
    for place, character in enumerate(text):
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        else:
            yield place, character


def _without_last_commas(text: str) -> str:
    commas: list[int] = []
    last = -1
    for place, character in _outside_strings(text):
        if character in "}]" and last >= 0 and not text[last + 1 : place].strip():
            commas.append(last)
        if not character.isspace():
            last = place if character == "," else -1
    return "".join(character for place, character in enumerate(text) if place not in commas) if commas else text


def _open_at_end(text: str) -> tuple[list[str], bool]:
    still_open: list[str] = []
    for _, character in _outside_strings(text):
        if character in _CLOSING:
            still_open.append(character)
        elif character in _CLOSING.values() and still_open:
            still_open.pop()
    quotes = len(re.findall(r'(?<!\\)(?:\\\\)*"', text))
    return still_open, quotes % 2 == 1


# -- calls as text


def may_be_call(text: str) -> bool:
    """Whether a text that is still arriving may turn out to be a call, so that it is not shown as words yet."""
    begun = text.lstrip()
    return any(begun.startswith(opening) or opening.startswith(begun) for opening in _OPENINGS)


def calls_in(text: str, tools: Collection[str]) -> tuple[Written, ...]:
    """The calls that a text consists of, and of nothing else; none when a name is not among the tools."""
    thought = _THOUGHT.match(text)
    text = (text[thought.end() :] if thought else text).strip()
    found = [_call(piece, tools) for piece in _pieces(text)]
    return tuple(call for call in found if call) if all(found) else ()


def _pieces(text: str) -> list[str]:
    tagged = list(_TAGGED.finditer(text))
    if tagged:
        return [match[1] for match in tagged] if not _TAGGED.sub("", text).strip() else []
    fenced = _FENCED.fullmatch(text)
    if fenced:
        return [fenced[1]]
    return [text] if text.startswith("{") and text.endswith("}") else []


def _call(piece: str, tools: Collection[str]) -> Written | None:
    form = repaired(piece)
    if form is None or not form.keys() <= _NAMING or form.get("name") not in tools:
        return None
    given = form.get("arguments", form.get("parameters"))
    if given is None or not isinstance(given, (dict, str)):
        return None
    return Written(form["name"], read_arguments(given))
