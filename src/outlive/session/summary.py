"""A summary by a model: asked for on the live prefix, checked line by line, never trusted with more than it may say.

A summary is reference, not instruction: what it claims the user said must be real, it may not grant anything, and it
may not tell the reader what to do. Lines that do are left out; if too little is left, the rules make the digest.
"""

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from msgspec import Struct

from outlive.context.engine import Engine, Request
from outlive.context.pages import HANDLE_IN_TEXT
from outlive.context.summary import ask, problems
from outlive.context.tokens import estimate

TIMEOUT = 120.0
SHARE = 0.06
"""Of the window: a summary may not be larger."""
SMALLEST = 500.0
WORTH = 0.5
"""Of its lines: if fewer survive the checks, the whole is not trusted."""
_QUOTE = re.compile(r"[\"“]([^\"”]{8,})[\"”]")
_QUOTED_LINE = re.compile(r"\s*>\s?(.+)")
_USER = re.compile(r"\b(?:user|human|owner|customer)\b", re.IGNORECASE)
_GRANT = re.compile(
    r"\b(?:approv\w*|authori[sz]\w*|permi(?:t|ts|tted|ssion)\w*|allow(?:s|ed)?|grant\w*|consent\w*|confirmed|"
    r"agreed|bypass\w*)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^\W*(?:you (?:must|should|shall|need|have|are)\b|always\b|never\b|ignore\b|disregard\b|forget\b|from now on\b|"
    r"do not\b|don['’]t\b|make sure\b|be sure\b|remember to\b|</?\w+>|system\s*:|assistant\s*:|human\s*:)",
    re.IGNORECASE,
)


class SummaryAsk(Struct, frozen=True):
    """What a summary call is made of: the live request, which is in the cache, and what to say after it."""

    request: Request
    instruction: str


Summarise = Callable[[SummaryAsk], str]


@dataclass(frozen=True, slots=True)
class Checked:
    """What of a summary may be used, what was left out, and why all of it was, if it was."""

    text: str
    dropped: tuple[str, ...] = ()
    problem: str = ""


def summarised(
    summarise: Summarise, request: Request, engine: Engine, focus: str = "", timeout: float = TIMEOUT
) -> Checked:
    """Ask for a summary and check it. Whatever goes wrong is a problem in the answer, never an exception."""
    limit = max(SMALLEST, SHARE * engine.window)
    instruction = ask(focus, engine.projection.summary)
    try:
        text = _in_time(lambda: summarise(SummaryAsk(request, instruction)), timeout)
    except Exception as error:  # noqa: BLE001 - a model call can fail in any way, and none of them may cost the session
        return Checked("", problem=f"the call failed: {error!r}"[:200])
    words = [p.text for unit in engine.past.units if unit.kind == "user" for p in unit.pieces]
    checked = check_summary(text, words, limit=limit, pages=len(engine.past.pages))
    found = [] if checked.problem else problems(checked.text, words)
    return Checked("", checked.dropped, "; ".join(found)) if found else checked


def check_summary(text: object, user_words: Iterable[str], *, limit: float, pages: int = 0) -> Checked:
    """Keep the lines that only report; pure, so that it can be tested on anything a model might say."""
    if not isinstance(text, str) or not text.strip():
        return Checked("", problem="it came back empty")
    if estimate(text) > limit:
        return Checked("", problem=f"it came back larger than {limit:.0f} tokens")
    said = _flat("\n".join(user_words))
    kept: list[str] = []
    dropped: list[str] = []
    for line in text.strip().splitlines():
        (dropped if _wrong(line, said, pages) else kept).append(line)
    solid = [line for line in kept if line.strip()]
    if len(solid) < WORTH * (len(solid) + len(dropped)):
        return Checked("", tuple(dropped), "too much of it was not in the record")
    return Checked("\n".join(kept).strip(), tuple(dropped))


def _wrong(line: str, said: str, pages: int) -> bool:
    """Whether a line quotes what was never said, grants, orders, or points nowhere."""
    quoted = _QUOTED_LINE.match(line)
    quotes = [_flat(quote) for quote in _QUOTE.findall(line)]
    if quoted:
        quotes = [_flat(quoted[1].strip("\"“”' "))]
    real = bool(quotes) and all(quote.strip(" .,;:!?…") in said for quote in quotes)
    speaks_of_user = bool(quoted or _USER.search(line))
    if speaks_of_user and quotes and not real:
        return True
    if speaks_of_user and _GRANT.search(line) and not real:
        return True
    if _ORDER.search(line) and _flat(line).lstrip("-*•# 0123456789.") not in said:
        return True
    return any(not 1 <= int(number) <= pages for number in HANDLE_IN_TEXT.findall(line))


def _flat(text: str) -> str:
    """Case, white space and kinds of quotation marks do not matter."""
    return " ".join(text.casefold().replace("’", "'").split())


def _in_time(work: Callable[[], str], timeout: float) -> str:
    """Run `work` and wait no longer than that; a call that never returns is left to itself."""
    result: list[str] = []
    failure: list[Exception] = []

    def run() -> None:
        try:
            result.append(work())
        except Exception as error:  # noqa: BLE001 - carried over to the caller
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True, name="outlive-summary")
    thread.start()
    thread.join(timeout)
    if failure:
        raise failure[0]
    if not result:
        raise TimeoutError(f"no answer within {timeout:.0f} s")
    return result[0]
