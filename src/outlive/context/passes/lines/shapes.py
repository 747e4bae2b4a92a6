"""What the lines of a result look like: lines that look alike are worth less, one unlike the others tells something.

That line often holds no name, so the rule of the last mention cannot see it. One such line of each of the newest
results is kept at any price: it takes a few tokens, and a model need not look again for what it has just seen.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from outlive.context.ledger.frames import FRAME_LINE
from outlive.context.log.pieces import Line, Piece, Shapes
from outlive.context.policy import ALIKE_POWER, TELLING

LIST, FEW = 4, 8
"""Lines of one shape that make a list; lines of a short result, or odd ones of a list, at most."""
_NUMBER = re.compile(r"[0-9][0-9a-f.:,]*")
"""Also a time, and the rest of a hash from its first digit on."""
_SPOKEN = re.compile(r"(?:\w\W*){8}")
"""A line says something from eight letters and digits on."""


def shares_of_alike(piece: Piece) -> Mapping[int, float]:
    """What is left of the value of a line that looks like many others of its result, by place."""
    return _shapes(piece).shares if piece.kind == "result" else {}


def telling_lines(newest_first: Iterable[Piece]) -> list[Line]:
    """One line of each of the newest results, if one is unlike all others there and in newer ones."""
    found: list[Line] = []
    known: set[str] = set()
    left = TELLING
    for piece in newest_first:
        if piece.kind != "result" or piece.writes:
            continue
        odd = [place for place, shape in _shapes(piece).odd.items() if shape not in known]
        known |= _shapes(piece).known
        if odd:
            found += piece.some_lines(odd[-1], odd[-1] + 1)  # what a command prints last often sums it up
        left -= 1
        if not left:
            break
    return found


def _shapes(piece: Piece) -> Shapes:
    """The shapes of a result's lines; looked at once."""
    if piece.shapes is None:
        texts = [piece.line_text(place) for place in range(len(piece.named))]
        shapes = [_NUMBER.sub("0", text) for text in texts]
        times = Counter(shapes)
        shares = {place: times[shape] ** ALIKE_POWER for place, shape in enumerate(shapes) if times[shape] >= LIST}
        odd: dict[int, str] = {}
        known: frozenset[str] = frozenset()
        if len(texts) <= FEW or 2 * len(shares) >= len(texts):
            odd = {place: shape for place, shape in enumerate(shapes) if times[shape] == 1 and _tells(texts[place])}
            known = frozenset(times)
        piece.shapes = Shapes(shares, odd if len(odd) <= FEW else {}, known)
    return piece.shapes


def _tells(text: str) -> bool:
    return _SPOKEN.search(text) is not None and not FRAME_LINE.match(text)
