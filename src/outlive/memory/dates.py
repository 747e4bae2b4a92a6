"""Relative dates as dates: "yesterday" in a note means nothing a month later."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import reduce
from typing import NamedTuple

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_NUMBERS |= {"nine": 9, "ten": 10, "couple of": 2, "a couple of": 2}
_COUNT = r"\d{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?!\d)")
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([A-Za-z]{3,9}),? (\d{4})\b")
_MONTH_FIRST = re.compile(r"\b([A-Za-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b")

LONGEST = 10_000
"""Characters of a text that is looked through for dates; a longer one was pasted."""


def read_date(text: str) -> date | None:
    """The day in "2023-05-07", "7 May, 2023", "May 7, 2023" or a time with one of these."""
    try:
        if match := _ISO.search(text):
            return date(int(match[1]), int(match[2]), int(match[3]))
        for match, (day, month) in ((_DAY_FIRST.search(text), (1, 2)), (_MONTH_FIRST.search(text), (2, 1))):
            if match and match[month][:3].lower() in _MONTHS:
                return date(int(match[3]), _MONTHS.index(match[month][:3].lower()) + 1, int(match[day]))
    except ValueError:
        return None
    return None


def absolute(text: str, base: date) -> str:
    """The text with relative dates said as dates, seen from `base`, where they tell of one event and so surely mean
    the days around it. Code, addresses, quotations, habits and settings are left alone; so is what is in doubt."""
    if _GAP in text or len(text) > LONGEST:
        return text
    literals = iter(_LITERAL.findall(text))
    parts = _SENTENCE_END.split(_LITERAL.sub(_GAP, text))
    said = "".join(part if number % 2 else _sentence(part, base) for number, part in enumerate(parts))
    return re.sub(_GAP, lambda _: next(literals), said)


def every_day(text: str, base: date) -> str:
    """The text with all relative dates said as dates, also those that may mean any day: to compare texts by."""

    def put(rule: DateRule, text: str) -> str:
        return rule.pattern.sub(lambda match: _said(match, base, rule) or match[0], text)

    if len(text) > LONGEST:
        return text
    parts = _LITERAL.split(text)
    literals = [*_LITERAL.findall(text), ""]
    return "".join(reduce(lambda said, rule: put(rule, said), _RULES, part) + literals.pop(0) for part in parts)


def _sentence(text: str, base: date) -> str:
    if not _HINT.search(text) or _GENERAL.search(text):
        return text
    history, future = _tells_past(text), bool(_FUTURE.search(text))
    for rule in _RULES:
        told = (rule.history and history) or (rule.future and future)

        def put(match: re.Match[str], rule: DateRule = rule, told: bool = told) -> str:
            before = match.string[: match.start()]
            since = _SINCE.search(before) and _STATE.search(match.string)
            sure = told or since or (rule.future and _BE.search(before))
            return (_placed(match, _said(match, base, rule)) if sure else "") or match[0]

        text = rule.pattern.sub(put, text)
    return text


def _tells_past(text: str) -> bool:
    """Whether a sentence tells of something that happened once, rather than of what is so each time."""
    if _WE_DID.search(text) or _IRREGULAR.search(text):
        return True
    return bool(_IT_WAS.search(text)) and not _PRESENT.search(text)


def _placed(match: re.Match[str], said: str) -> str:
    """The date as it fits into its sentence, or nothing where the words are no adverb of it."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    if not said or _ATTRIBUTE.search(before) or _AND_ANOTHER.match(after) or (after and not _GOES_ON.match(after)):
        return ""
    begins = not before.strip(" \t-*#•")
    if match[0][0].isupper() and not begins:
        return ""  # a name: USA Today
    if _SINCE.search(before):
        said = said.removeprefix("on ").removeprefix("in ")
    return said[0].upper() + said[1:] if match[0][0].isupper() else said


def _said(match: re.Match[str], base: date, rule: "DateRule") -> str:
    try:
        return rule.say(match, base)
    except (OverflowError, ValueError):
        return ""


def _day(offset: int) -> Callable[[re.Match[str], date], str]:
    return lambda _, base: f"on {base + timedelta(days=offset)}"


def _ago(match: re.Match[str], base: date) -> str:
    count = -(_NUMBERS.get(match["count"].lower()) or int(match["count"]))
    match match["unit"].lower():
        case "day":
            return f"on {base + timedelta(days=count)}"
        case "week":
            return f"around {base + timedelta(weeks=count)}"
        case "month":
            return f"in {_month(base, count)}"
        case _:
            return f"in {base.year + count}"


def _neighbour(match: re.Match[str], base: date) -> str:
    step = {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
    unit = match["unit"].lower()
    if unit == "week":
        return f"in the week of {base - timedelta(days=base.weekday()) + timedelta(weeks=step)}"
    return f"in {_month(base, step)}" if unit == "month" else f"in {base.year + step}"


def _weekday(match: re.Match[str], base: date) -> str:
    gap = (_DAYS.index(match["day"].lower()) - base.weekday()) % 7
    days = gap or 7 if match["which"].lower() == "next" else gap - 7
    return f"on {base + timedelta(days=days)}"


def _month(base: date, step: int) -> str:
    years, month = divmod(base.month - 1 + step, 12)
    return f"{base.year + years:04}-{month + 1:02}"


class DateRule(NamedTuple):
    """How a relative date is spelled and said; whether it can lie behind or ahead."""

    pattern: re.Pattern[str]
    say: Callable[[re.Match[str], date], str]
    history: bool
    future: bool


def _rule(
    pattern: str, say: Callable[[re.Match[str], date], str], *, history: bool = False, future: bool = False
) -> DateRule:
    return DateRule(re.compile(rf"(?i)(?<![\w.\-/=:@#$%]){pattern}(?![\w'’(/=:_-]|\.\w)"), say, history, future)


_RULES = (
    _rule(r"the day before yesterday", _day(-2), history=True),
    _rule(r"the day after tomorrow", _day(2), future=True),
    _rule(r"(?<!before )yesterday", _day(-1), history=True),
    _rule(r"last night", _day(-1), history=True),
    _rule(r"(?:today|tonight|this (?:morning|afternoon|evening))", _day(0), history=True, future=True),
    _rule(r"(?<!after )tomorrow", _day(1), future=True),
    _rule(rf"(?P<count>{_COUNT}) (?P<unit>day|week|month|year)s? ago", _ago, history=True),
    _rule(r"(?P<which>last) (?P<unit>week|month|year)", _neighbour, history=True),
    _rule(r"(?P<which>this) (?P<unit>week|month|year)", _neighbour, history=True, future=True),
    _rule(r"(?P<which>next) (?P<unit>week|month|year)", _neighbour, future=True),
    _rule(rf"(?P<which>last) (?P<day>{'|'.join(_DAYS)})", _weekday, history=True),
    _rule(rf"(?P<which>next) (?P<day>{'|'.join(_DAYS)})", _weekday, future=True),
)

_HINT = re.compile(r"(?i)day|night|this (?:morning|afternoon|evening)|tomorrow|ago\b|week|month|year")
"""Without one of these there is nothing to do."""
_GAP = "\ue000"
"""Stands for a literal while its sentence is looked at."""
_LITERAL = re.compile(
    r"```[\s\S]*?```|`[^`\n]*`|^>.*$|^(?: {4}|\t).*$|\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)\w+://\S+"
    r"|(?<![\w.])[\w.]+\([^)\n]*\)",
    re.MULTILINE,
)
_SENTENCE_END = re.compile(r"([.!?;]+(?=\s|$)|\n+)")
_GENERAL = re.compile(
    r"(?i)\b(?:every|each|always|never|usually|normally|typically|often|sometimes|whenever|when|if|unless|whether|any|"
    r"anything|what|which|how|you|your|e\.g|i\.e|such as|like|means?|meaning|defaults?|shows?|showing|displays?|"
    r"lists?|returns?|prints?|filters?|selects?|compares?|compared|versus|vs|labels?|columns?|buttons?|tabs?|"
    r"widgets?|charts?|graphs?|dashboards?|reports? on|deletes?|removes?|purges?|keeps?|reads?|parses?|accepts?|"
    r"supports?|says?|promises?|ask|tell|say|give|use|uses|run|runs|please|don[’']t|do not|does not|doesn[’']t|"
    r"remember to|older|newer|than|"
    r"mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|daily|weekly|monthly|nightly)\b"
)
"""Words of rules, habits, settings and of what software does: what they say of "last week" holds in any week."""
_PAST = (
    r"(?:began|broke|became|bought|brought|came|chose|did|fell|felt|forgot|found|froze|gave|got|grew|had|held|kept|knew|"
    r"learnt|led|left|lost|made|met|moved|paid|ran|said|sold|saw|sent|shipped|spent|spoke|stood|taught|thought|threw|"
    r"told|took|went|woke|won|wrote)"
)
_IRREGULAR = re.compile(
    r"(?i)(?<!that )(?<!which )\b(?:began|broke|became|bought|brought|came|chose|fell|forgot|froze|gave|grew|knew|"
    r"spoke|taught|threw|told|took|went|woke|won|wrote)\b"
)
_WE_DID = re.compile(
    rf"(?i)\b(?:we|i|they|he|she|it|nobody|everybody|everyone)(?: \w+ly)? (?:{_PAST}|\w{{2,}}ed|was|were)\b"
)
_NOT_ED = (
    r"(?!based|related|called|named|used|needed|sorted|filtered|grouped|limited|cached|indeed|speed|feed|seed|embed)"
)
_IT_WAS = re.compile(
    rf"(?i)^[\s*#•-]*(?:[\w’'.-]+ ){{0,3}}{_NOT_ED}(?:{_PAST}|[a-z]{{2,}}ed)\b"
    r"|(?<!that )(?<!which )\b(?:was|were|had been)\b"
)
_PRESENT = re.compile(
    r"(?i)\b(?:is|are|am|be|being|do|does|can|could|should|must|may|might|would|gets?|goes|go|needs?|has to|"
    r"have to)\b"
)
_FUTURE = re.compile(
    r"(?i)\b(?:will|shall|going to|due|(?:is|are|am) \w+ing|(?:is|are) (?:planned|scheduled)|starts|begins|ends|"
    r"ships|closes|opens|leaves|expires|launches)\b|[’']ll\b"
)
_BE = re.compile(r"(?i)\b(?:is|are) $")
_SINCE = re.compile(r"(?i)\b(?:since|until|till|by|before|after) $")
_STATE = re.compile(r"(?i)\b(?:is|are|has|have|been|was|were|open|closed|down|broken|blocked|off|ill|sick|away)\b")
_ATTRIBUTE = re.compile(
    r"(?i)\b(?:for|of|from|than|with|and|or|between|the|a|an|to|as|in|on|at|about|over|not|only|versus|vs|like)\s+$|[,/&+]\s*$"
)
"""What stands before "last week" where it is a thing, not a time at which something happened."""
_AND_ANOTHER = re.compile(r"(?i),? (?:and|or) (?:this|last|next|today|tomorrow|yesterday)\b")
_GOES_ON = re.compile(
    r"\s*(?:[,.;:!?)—–]|$|\s(?:[A-Z]\w|(?:we|I|they|he|she|it|the|a|an|our|my|his|her|their|and|but|because|with|at|in|by|"
    r"for|from|to|after|before|while|so|as|that|there|until|via|without|during|due|morning|afternoon|evening|night|"
    r"noon)\b))"
)
