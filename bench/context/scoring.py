"""The measures: cost under a simulated prompt cache, and what of a session's needs is still in its requests."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from time import process_time

from bench.context.baselines import CHARS, Answer, Runner
from bench.context.references import Reference
from bench.context.sessions import Session, block_text
from outlive.context.validity import problems

WRITE, READ, OUTPUT = 1.25, 0.1, 5.0
CACHE_SECONDS = 300.0
LARGEST_RECALL = 8_000 * CHARS
HANDLE = re.compile(r"@h([0-9]+)")
RULE = re.compile(
    r"\b(always|never|don'?t|do not|must|only|prefer|from now on|make sure|please|avoid|should)\b",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
INJECTED = re.compile(
    r"\s*(<(?!command)[a-z-]+[ >\n]|<!--|This session is being continued|Base directory for this skill)"
)
"""What a harness says in the user's place."""
EARLY = 0.8
WALL = 2_000 * CHARS
SHORT_WORDS = 500 * CHARS


@dataclass(slots=True)
class Score:
    """Sums over the turns of one session (or, added up, of many)."""

    cost: float = 0.0
    recall_cost: float = 0.0
    base: float = 0.0
    rewritten: float = 0.0
    """Tokens written to the cache beside what was new."""
    refs: int = 0
    direct: int = 0
    evidence: int = 0
    reachable: int = 0
    after_refs: int = 0
    after_direct: int = 0
    rules: int = 0
    rules_kept: int = 0
    all_rules: int = 0
    all_rules_kept: int = 0
    invalid: int = 0
    unseen_lost: int = 0
    over: int = 0
    passes: int = 0
    warm: int = 0
    """Passes under pressure, which rewrite what the provider's cache still holds."""
    warm_early: int = 0
    """Those that began below `EARLY` of the window."""
    warm_before: float = 0.0
    warm_after: float = 0.0
    """Tokens of the request before and after them, summed."""
    cold: int = 0
    cold_before: float = 0.0
    cold_after: float = 0.0
    turns: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    missed: list[Reference] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        for item in fields(self):
            mine, theirs = getattr(self, item.name), getattr(other, item.name)
            setattr(self, item.name, max(mine, theirs) if item.name == "slowest" else mine + theirs)


def segments(session: Session, answer: Answer) -> list[str]:
    """A request in the order in which the cache sees it."""
    return [session.system, *(block_text(block) for message in answer.messages for block in message.blocks)]


def shared(old: str, new: str) -> int:
    """Length of the common beginning."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old.startswith(new[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def in_cache(before: Sequence[str] | None, now: Sequence[str]) -> int:
    """Characters of a request that are read from the cache, given the request whose prefix is in it."""
    cached = 0
    for old, new in zip(before or (), now, strict=False):
        if old is not new and old != new:
            cached += shared(old, new)
            break
        cached += len(new)
    return cached


def run(
    session: Session, references: Sequence[Reference], make: Callable[[Session, int], Runner], window: int
) -> Score:
    """Play a session through a policy."""
    score = Score()
    runner = make(session, window)
    by_turn: dict[int, list[Reference]] = {}
    for reference in references:
        by_turn.setdefault(reference.turn, []).append(reference)
    before: list[str] | None = None
    asked_at = 0.0
    told, since_pass = 0, 99
    rules = Rules(session)
    for turn, message in enumerate(session.messages):
        if message["role"] != "assistant" or not turn:
            continue
        began = process_time()
        answer = runner.answer(turn)
        took = process_time() - began
        score.seconds += took
        score.slowest = max(score.slowest, took)
        now = segments(session, answer)
        time = session.times[turn - 1]
        warm = before if time - asked_at <= CACHE_SECONDS else None
        cached, size = in_cache(warm, now), sum(map(len, now))
        score.cost += (READ * cached + WRITE * (size - cached) + OUTPUT * len(session.texts[turn])) / CHARS
        score.rewritten += max(size - cached - sum(map(len, session.texts[told:turn])), 0) / CHARS
        score.cost += READ * answer.extra_read + OUTPUT * answer.extra_output
        before, asked_at, told = now, time, turn
        since_pass = 0 if answer.passed else since_pass + 1
        _check(score, session, answer, turn, window, size)
        if answer.passed or turn + 2 >= len(session.messages):
            rules.check(score, turn, now)
        if turn in by_turn:
            _refer(score, runner, by_turn[turn], now, since_pass, session)
        score.turns += 1
        score.passes += answer.passed
        _sizes(score, answer, window)
    return score


def _sizes(score: Score, answer: Answer, window: int) -> None:
    for receipt in answer.receipts:
        if receipt.reason == "cold":
            score.cold += 1
            score.cold_before += receipt.before
            score.cold_after += receipt.after
        else:
            score.warm += 1
            score.warm_early += receipt.before < EARLY * window
            score.warm_before += receipt.before
            score.warm_after += receipt.after


def _check(score: Score, session: Session, answer: Answer, turn: int, window: int, size: int) -> None:
    score.invalid += bool(problems(answer.messages))
    score.over += size / CHARS > window
    shown = {block_text(b) for b in answer.messages[-1].blocks} if answer.messages else set()
    everything = ""
    for block in session.messages[turn - 1]["content"]:
        if block["type"] == "tool_result" and block["content"] not in shown:
            everything = everything or "\n".join(segments(session, answer))
            score.unseen_lost += block["content"] not in everything


def _refer(
    score: Score, runner: Runner, wanted: list[Reference], now: list[str], since_pass: int, session: Session
) -> None:
    text = "\n".join(now)
    context = len(text) / CHARS
    visible: list[int] | None = None
    fetched: set[str] = set()
    for reference in wanted:
        score.refs += 1
        direct = reference.name in text
        score.direct += direct
        score.evidence += reference.evidence in text
        if since_pass < 3:
            score.after_refs += 1
            score.after_direct += direct
        if direct:
            score.reachable += 1
            continue
        score.missed.append(reference)
        visible = visible if visible is not None else sorted(map(int, set(HANDLE.findall(text))), reverse=True)
        page = next((p for p in map(runner.page, visible) if reference.name in p and len(p) <= LARGEST_RECALL), "")
        score.reachable += bool(page)
        again = page or session.texts[reference.message]
        if again not in fetched:
            fetched.add(again)
            score.recall_cost += READ * context + WRITE * len(again) / CHARS + OUTPUT * 40


class Rules:
    """What the user asked for: short messages whole, and every sentence that sounds like a rule outside of walls."""

    def __init__(self, session: Session) -> None:
        self.wanted: list[tuple[int, str, bool]] = []
        for number, message in enumerate(session.messages):
            if message["role"] == "user":
                for block in message["content"]:
                    if block["type"] == "text":
                        own = INJECTED.match(block["text"]) is None
                        self.wanted.extend((number, text, own) for text in _wanted(block["text"]))

    def check(self, score: Score, turn: int, now: list[str]) -> None:
        text = "\n".join(now)
        for number, rule, own in self.wanted:
            if number < turn:
                kept = rule in text
                score.all_rules += 1
                score.all_rules_kept += kept
                score.rules += own
                score.rules_kept += own and kept


def _wanted(text: str) -> list[str]:
    if len(text) <= SHORT_WORDS:
        return [text] if text.strip() else []
    if len(text) > WALL:
        return []
    return [part for part in SENTENCE.split(text) if RULE.search(part)]
