"""The engine with one mechanism taken out at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from outlive.context.log.pieces import Line
from outlive.context.log.units import Unit
from outlive.context.passes.lines.name_index import NameIndex, NameRecord
from outlive.context.passes.lines.reuse_score import name_score
from outlive.context.passes.lines.select import Scored, Weigh
from outlive.context.policy import RICH, Policy


@dataclass(frozen=True, slots=True)
class Variant:
    """A policy, and functions or constants of the engine to replace while it runs."""

    name: str
    policy: Policy = RICH
    patches: tuple[tuple[str, str, Any], ...] = field(default=())


@contextmanager
def patched(variant: Variant) -> Iterator[None]:
    """Put the replacements in place for a while."""
    before = []
    for module_name, attribute, value in variant.patches:
        module = import_module(f"outlive.context.{module_name}")
        before.append((module, attribute, getattr(module, attribute)))
        setattr(module, attribute, value)
    try:
        yield
    finally:
        for module, attribute, value in before:
            setattr(module, attribute, value)


def any_mention(index: NameIndex, line: Line, place: float) -> float:
    """Every mention counts, not only the last."""
    return place * sum(name_score(index, name, index.names[name]) for name in line.names)


def head_and_tail(_index: NameIndex, lines: Iterable[Line], _weigh: Weigh, _price: float) -> Scored:
    """Lines near the beginning or the end of their piece."""
    scored: Scored = []
    for line in lines:
        place = line.number - 1
        distance = min(place, line.piece.line_count - 1 - place)
        scored.append((-1.0 / (1 + distance) / line.cost, -line.id, line))
    scored.sort()
    return scored


def same_score(_index: NameIndex, _name: str, _seen: NameRecord) -> float:
    return 1.0


def none_shown(_units: Sequence[Unit], _folded: int, _most: int) -> int:
    return 0


def own(**changes: Any) -> Policy:
    """The default policy with some numbers changed."""
    values: dict[str, Any] = {name: getattr(RICH, name) for name in RICH.__struct_fields__}
    return Policy(**{**values, "name": "own", **changes})


NEVER = 10**9
POLICY_TABLE: Callable[..., Policy] = own
VARIANTS = (
    Variant("all mechanisms"),
    Variant(
        "head and tail of results instead of last mentions", patches=(("passes.survey", "score", head_and_tail),)
    ),
    Variant("any mention counts, not only the last", patches=(("passes.lines.select", "line_value", any_mention),)),
    Variant("all names have the same odds", patches=(("passes.lines.reuse_score", "name_score", same_score),)),
    Variant("headers and labels only (no lines)", own(lines=0.001), (("policy", "FEWEST_LINES", 0.001),)),
    Variant("lines at any price", own(price=0.0)),
    Variant("lines for 15% of the past instead of a price", own(price=0.0, lines_of_past=0.15)),
    Variant("every pass writes the whole digest again", patches=(("policy", "MOST_SEGMENTS", 0),)),
    Variant("segments are never merged while the cache is warm", patches=(("policy", "MERGE_REQUESTS", -NEVER),)),
    Variant("the price does not follow the session", patches=(("policy", "PRICE_FACTOR", (1.0, 1.0)),)),
    Variant("passes only at the high-water mark", own(payback=0)),
    Variant("walls of injected text stay", patches=(("passes.user_words", "WALL", float(NEVER)),)),
    Variant("recent actions are said again", patches=(("view", "steps_shown", none_shown),)),
    Variant("folded lines are not chosen again", patches=(("passes.lines.pool", "POOL_PRICE", 1e9),)),
    Variant("no passes on a cold cache", own(cold=1.0, cold_tokens=NEVER)),
    Variant("narrow band (down to 70% of the high-water mark)", own(target=0.6)),
    Variant("calls stay in place for 15% of the window", own(skeleton=0.15)),
    Variant("tail of 2k tokens", own(tail=0.02, tail_tokens=2_000)),
    Variant("cold passes go no further than warm ones", patches=(("policy", "COLD_TAIL", 1.0),)),
    Variant("tail of 15%, 10k at least", own(tail=0.15, tail_tokens=10_000)),
    Variant("user's words get 1%", own(words=0.01)),
)
FRONTIER = (
    *(Variant(f"price {price}", own(price=price)) for price in (0.005, 0.0075, 0.01, 0.015)),
    *(Variant(f"lines up to {share:.0%} of the window", own(lines=share)) for share in (0.3, 0.2)),
    *(
        Variant(f"views up to {share:.0%} of the mark", patches=(("policy", "SHALLOW", share),))
        for share in (0.7, 0.5)
    ),
    Variant("tail of 4%", own(tail=0.04, tail_tokens=4_000)),
    Variant(
        "passes that free 8k at least", patches=(("policy", "GAIN_TOKENS", 8_000), ("policy", "SMALLEST_GAIN", 0.1))
    ),
)
"""How far passes go, and when they are made."""
