"""Relative dates as dates: "yesterday" in a note means nothing a month later."""

import re
from collections.abc import Callable
from datetime import date, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_NUMBERS |= {"nine": 9, "ten": 10, "couple of": 2}
_COUNT = r"\d{1,4}|" + "|".join(_NUMBERS)
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?!\d)")
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([A-Za-z]{3,9}),? (\d{4})\b")
_MONTH_FIRST = re.compile(r"\b([A-Za-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b")


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
    """The text with relative dates said as dates, seen from `base`. Code and quotations are left alone."""
    parts = re.split(r"(```.*?```|`[^`\n]*`|^>.*$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if number % 2 else _plain(part, base) for number, part in enumerate(parts))


def _plain(text: str, base: date) -> str:
    for pattern, say in _RULES:
        text = pattern.sub(lambda match, say=say: _said(match, base, say), text)  # type: ignore[misc]
    return text


def _said(match: re.Match[str], base: date, say: Callable[[re.Match[str], date], str]) -> str:
    try:
        found = say(match, base)
    except (OverflowError, ValueError):
        return match[0]
    return found[0].upper() + found[1:] if match[0][0].isupper() and found[0].isalpha() else found


def _day(offset: int) -> Callable[[re.Match[str], date], str]:
    return lambda _, base: f"on {base + timedelta(days=offset)}"


def _ago(match: re.Match[str], base: date) -> str:
    count = _NUMBERS.get(match["count"].lower()) or int(match["count"])
    count *= -1 if match["ago"].lower() in ("ago", "earlier") else 1
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


def _rule(pattern: str, say: Callable[[re.Match[str], date], str]) -> "Rule":
    return re.compile(rf"(?i)(?<![\w-]){pattern}(?![\w'’-])"), say


Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date], str]]
_RULES: tuple[Rule, ...] = (
    _rule(r"the day before yesterday", _day(-2)),
    _rule(r"the day after tomorrow", _day(2)),
    _rule(r"(?<=since )yesterday", lambda _, base: str(base - timedelta(days=1))),
    _rule(r"yesterday", _day(-1)),
    _rule(r"last night", _day(-1)),
    _rule(r"(?<=since )(?:today|this (?:morning|afternoon|evening))", lambda _, base: str(base)),
    _rule(r"(?:today|tonight|this (?:morning|afternoon|evening))", _day(0)),
    _rule(r"tomorrow", _day(1)),
    _rule(rf"(?P<count>{_COUNT}) (?P<unit>day|week|month|year)s? (?P<ago>ago|earlier|from now)", _ago),
    _rule(r"(?P<which>last|this|next) (?P<unit>week|month|year)", _neighbour),
    _rule(rf"(?P<which>last|next) (?P<day>{'|'.join(_DAYS)})", _weekday),
)
