"""The rules of a `.gitignore` file with git's semantics, without running git, and the automaton that matches them.

Patterns are untrusted, so a bit-parallel automaton matches all of them at once in time linear in the path; a regular
expression for `*a*a*a*b` can take exponential time.
"""

import string
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MAX_FILE_BYTES = 64 * 1024
"""Bytes of an ignore file; a larger one is ignored."""
_SLASH = ord("/")
Element = str | frozenset[int]
"""`*`, `**`, `**/`, `?`, or the set of codes that match."""
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": string.digits,
    "graph": "".join(map(chr, range(33, 127))),
    "lower": string.ascii_lowercase,
    "print": "".join(map(chr, range(32, 127))),
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


class Automaton:
    """Matches all patterns of a layout at once. Begin with `start` and `advance` over the codes of a path."""

    def __init__(self, layout: "Layout") -> None:
        self.size = layout.size
        """States of the automaton; 0 without rules."""
        self.cost = self.size + sum(map(len, layout.moves.values()))
        """Steps that building it took."""
        everything, any_name = layout.mask(layout.loop_any), layout.mask(layout.loop_name)
        any_code = layout.mask(layout.any_code)
        self._moves = defaultdict(lambda: any_code, {_SLASH: 0})
        for code, places in layout.moves.items():
            self._moves[code] |= layout.mask(places)
        self._stays = everything, everything | any_name
        self._skip_one, self._skip_two = layout.mask(layout.skip_one), layout.mask(layout.skip_two)
        self._at_any_depth = self._closed(layout.mask(layout.starts_anywhere))
        self.start = self._closed(layout.mask(layout.starts_at_root)) | self._at_any_depth
        self._ends, self._folder_ends = layout.mask(layout.ends), layout.mask(layout.folder_ends)
        self._negated = layout.mask(layout.negated)

    def advance(self, state: int, part: Iterable[int]) -> int:
        """The state after more codes of a path; its names are separated by `/`."""
        moves, (any_place, any_name), anywhere = self._moves, self._stays, self._at_any_depth
        skip_one, skip_two = self._skip_one, self._skip_two
        for code in part:
            state = ((state & moves[code]) << 1) | (state & (any_place if code == _SLASH else any_name))
            state |= (state & skip_two) << 2
            state |= (state & skip_one) << 1
            if code == _SLASH:
                state |= anywhere
            elif not (state or anywhere):
                return 0
        return state

    def verdict(self, state: int, *, folder: bool) -> bool | None:
        """Whether the last rule that matches the path ignores it; None if no rule matches."""
        found = state & (self._ends | self._folder_ends if folder else self._ends)
        return None if not found else not (self._negated >> (found.bit_length() - 1)) & 1

    def _closed(self, state: int) -> int:
        """`state` plus the states that wildcards reach by matching nothing: `**/`, then `*` or `**`."""
        state |= (state & self._skip_two) << 2
        return state | (state & self._skip_one) << 1


class IgnoreRules(Automaton):
    """The rules of one file, for the bytes of paths relative to its folder."""

    def __init__(self, text: bytes) -> None:
        layout = Layout()
        for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            layout.add_rule(line.removesuffix(b"\r").partition(b"\0")[0])
        super().__init__(layout)


@dataclass
class Layout:
    """The numbering of states: one before each element of each pattern, and one at the end of each pattern."""

    size: int = 0
    moves: dict[int, list[int]] = field(default_factory=dict)
    any_code: list[int] = field(default_factory=list)
    loop_any: list[int] = field(default_factory=list)
    loop_name: list[int] = field(default_factory=list)
    skip_one: list[int] = field(default_factory=list)
    skip_two: list[int] = field(default_factory=list)
    starts_at_root: list[int] = field(default_factory=list)
    starts_anywhere: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    folder_ends: list[int] = field(default_factory=list)
    negated: list[int] = field(default_factory=list)

    def mask(self, places: list[int]) -> int:
        bits = bytearray(self.size // 8 + 1)
        for place in places:
            bits[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(bits, "little")

    def add_rule(self, line: bytes) -> None:
        """Add a line: an optional `!`, the pattern, an optional `/` for folders only."""
        if line.startswith(b"#"):
            return
        pattern = _without_trailing_spaces(line.decode("latin-1"))
        negated, pattern = pattern.startswith("!"), pattern.removeprefix("!")
        folder, pattern = pattern.endswith("/"), pattern.removesuffix("/")
        by_path = "/" in pattern
        try:
            elements = _elements(pattern.removeprefix("/") if by_path else pattern, by_path=by_path)
        except LookupError:  # an unclosed bracket, a lone backslash or an unknown class matches no path
            return
        if elements:
            self.add(elements, self.starts_at_root if by_path else self.starts_anywhere, folder=folder)
            self.negated += [self.size - 1] if negated else []

    def add(self, elements: Sequence[Element], starts: list[int], *, folder: bool = False) -> None:
        """Add a pattern. Elements that can match nothing may be adjacent only as `**/` before `*` or `**`."""
        starts.append(self.size)
        for element in elements:
            self._place(element)
        (self.folder_ends if folder else self.ends).append(self.size)
        self.size += 1

    def _place(self, element: Element) -> None:
        if element == "**/":
            self.skip_one.append(self.size)
            self.skip_two.append(self.size)
            self.loop_any.append(self.size + 1)
            self.moves.setdefault(_SLASH, []).append(self.size + 1)
            self.size += 2
            return
        if element in ("**", "*"):
            self.skip_one.append(self.size)
            (self.loop_any if element == "**" else self.loop_name).append(self.size)
        elif element == "?":
            self.any_code.append(self.size)
        else:
            assert isinstance(element, frozenset)  # noqa: S101 - the only remaining type
            for byte in element:
                self.moves.setdefault(byte, []).append(self.size)
        self.size += 1


def _without_trailing_spaces(pattern: str) -> str:
    """The pattern without trailing spaces, except one after a backslash."""
    kept = at = 0
    while at < len(pattern):
        at += 2 if pattern[at] == "\\" else 1
        if pattern[at - 1 : at] != " " or pattern[at - 2 : at - 1] == "\\":
            kept = at
    return pattern[:kept]


def _elements(pattern: str, *, by_path: bool) -> list[Element]:
    """The elements of a pattern. Raises LookupError if it is not complete."""
    found: list[Element] = []
    at = literal = next((at for at, letter in enumerate(pattern) if letter in "*?[\\"), len(pattern))
    found += [frozenset((ord(letter),)) for letter in pattern[:at]]
    while at < len(pattern):
        letter = pattern[at]
        if letter == "*":
            end = next((end for end in range(at, len(pattern)) if pattern[end] != "*"), len(pattern))
            # git matches the literal start separately, so `a**/b` is `a` followed by `**/b`
            alone = at == literal or pattern[at - 1] == "/"
            across = by_path and end - at > 1 and alone and pattern[end : end + 1] in ("", "/", "\\")
            if across and pattern[end : end + 1] == "\\":
                across = pattern[end + 1 : end + 2] == "/"
            if across and pattern[end : end + 1] == "/":
                end += 1
                if not found or found[-1] != "**/":
                    found.append("**/")
            else:
                found.append("**" if across else "*")
            at = end
        elif letter == "?":
            found.append("?")
            at += 1
        elif letter == "[":
            members, at = _bracket(pattern, at + 1)
            found.append(members - {_SLASH})
        else:
            at += letter == "\\"
            found.append(frozenset((ord(pattern[at]),)))
            at += 1
    return found


def _bracket(pattern: str, at: int) -> tuple[frozenset[int], int]:
    """The bytes that a bracket matches, and the index after it; `at` is the index after the `[`."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    members: set[int] = set()
    previous, first = -1, True
    while first or pattern[at] != "]":
        first = False
        letter = pattern[at]
        if letter == "-" and previous >= 0 and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 2 if pattern[at + 1] == "\\" else 1
            members.update(range(previous, ord(pattern[at]) + 1))
            previous = -1
        elif letter == "[" and pattern[at + 1 : at + 2] == ":" and (end := pattern.find("]", at + 2)) != -1:
            if end > at + 2 and pattern[end - 1] == ":":
                members.update(map(ord, _CLASSES[pattern[at + 2 : end - 1]]))
                at, previous = end, -1
            else:
                members.add(ord("["))
                previous = ord("[")
        else:
            at += letter == "\\"
            previous = ord(pattern[at])
            members.add(previous)
        at += 1
    return frozenset(range(256)) - members if negated else frozenset(members), at + 1
