"""When something new takes the place of something known: it says so, or it gives one thing another value of the same
kind. In doubt both stay, the newer first.
"""

import re
from collections.abc import Sequence

from outlive.memory.order import BREAK
from outlive.memory.similar import sentences

_VALUE = re.compile(
    r"(?i)^(?:(?:no|actually|correction|now)\b[,:]?\s+)*(?P<thing>(?:the|our|my|your|his|her|their)\s+[^,;:()\n]+?)\s+"
    r"(?:(?P<now>(?:is|has been|was|has|have)?\s*(?:now\s+)?(?:changed|moved|switched)\s+to|(?:is|=)\s+now)|"
    r"(?:is\s+)?(?P<called>(?:now\s+)?(?:called|named))|(?:is\s+)?set\s+to|is|=)\s+(?P<value>\S.*?)"
    r"(?:,?\s+(?:now|from now on|since\b.*))?[.!]*\s*$"
)
"""Something definite, and what it is."""
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_SHAPES = {
    "time": re.compile(r"(?:at )?\d{1,2}(?::\d\d(?: ?[ap]m)?| ?[ap]m)"),
    "date": re.compile(rf"(?i)(?:on )?(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}\.? {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}})"),
    "day": re.compile(rf"(?i)(?:on )?{_DAY}"),
    "month": re.compile(rf"(?i)(?:in )?{_MONTH}"),
    "address": re.compile(r"\w[\w+.-]*://\S+|(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?"),
    "path": re.compile(r"(?:in )?[\w.~@-]*/[\w./~@*-]*"),
    "code": re.compile(r"`[^`]+`"),
    "number": re.compile(r"v?\d[\d.,]*(?P<unit>(?:\s?%|\s?[a-zA-Z]+)?)"),
}
_MORE = re.compile(r"(?i)\b(?:also|too|another|as well|besides|additionally|sometimes|or|and)\b")
"""What speaks of one more, and takes no place."""
_NOT_SO = re.compile(
    r"(?i)[,;(]?\s*(?:\b(?:and|but)\s+)?\b(?:(?:do(?:es)?\s+)?not|don['’]t|doesn['’]t|"
    r"instead of|rather than|no longer)\s+(?P<what>[^,;.)\n]+)\)?"
)
_NOW = re.compile(r"(?i)\b(?:now|from now on|instead|actually)\b")
_STATES = frozenset(("is", "are", "was", "were", "be", "has", "have", "can", "not", "never"))
_WHERE = frozenset(("in", "on", "at", "for", "with", "during", "under", "from", "to", "by", "if", "when", "only"))


def differs_about(new: str, old: str) -> bool:
    """Both say what one thing is, in the same way, and it is not the same: "the port is 80", "the port is 443"."""
    mine, theirs = _VALUE.match(new.strip()), _VALUE.match(old.strip())
    if not mine or not theirs or not _are_one_sentence(new, old) or _MORE.search(new):
        return False
    if _words(mine["thing"]) != _words(theirs["thing"]):
        return False
    shape, other = (_shape(match["value"], bool(match["called"])) for match in (mine, theirs))
    if (mine["now"] or _NOW.search(new)) and _is_name(mine["value"]) and _is_name(theirs["value"]):
        shape = other = "name"
    return bool(shape) and shape == other and mine["value"] != theirs["value"]


def corrects(new: str, old: str) -> bool:
    """`new` says that `old` is not so: "on Mondays, not on Fridays" after "on Fridays"; or both say the same up to
    the last word, and the new one says "now" or "actually"."""
    if not _are_one_sentence(new, old) or _MORE.search(_NOT_SO.sub("", new)):
        return False
    before = _words(old)
    if match := _NOT_SO.search(new):
        return _denies(_words(match["what"]), _words(f"{new[: match.start()]} {new[match.end() :]}"), before)
    if not _NOW.search(new):
        return False
    now = _words(_NOW.sub("", new).strip(" ,"))
    alike = len(now) == len(before) > 1 and now[:-1] == before[:-1] and now[-1] != before[-1]
    return alike and not _STATES.intersection(before)


def _denies(denied: Sequence[str], rest: Sequence[str], before: Sequence[str]) -> bool:
    """Whether what is denied is all of what was known that `rest` does not say, and `rest` is not about less."""
    kept = [word for word in before if word not in denied]
    if not denied or not set(denied) <= set(before) or not _in_order(kept, rest) or (rest and not kept):
        return False
    return not _WHERE.intersection(rest).difference(kept, denied)


def _in_order(few: Sequence[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(word in rest for word in few)


def _are_one_sentence(*texts: str) -> bool:
    found = [sentences(text) for text in texts]
    return all(len(one) == 1 and not one[0].asks for one in found)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for sentence in sentences(text) for word in sentence.words if word != BREAK)


def _shape(value: str, called: bool) -> str:
    """What kind of a value it is, with its unit; or nothing."""
    if called:
        return "" if " " in value.strip() and value[0] not in "`\"'" else "called"
    for name, pattern in _SHAPES.items():
        if match := pattern.fullmatch(value):
            return f"{name} {match['unit'].strip()}" if name == "number" else name
    return ""


def _is_name(value: str) -> bool:
    return " " not in value and value[:1].isupper()
