"""The same recorded session at each rung of the ladder: what was in the window before the pass, and after it."""

from functools import lru_cache

from msgspec import Struct

from outlive.agent.policies import policy_named
from outlive.context.engine import Engine
from outlive.events import Compacted
from outlive.web.learn.player import fates, played
from outlive.web.learn.survival import LARGEST, POLICY
from outlive.web.receipt import receipt_facts

SHRINKING = f"{POLICY},skeleton=0.12,lines=0.1"
"""Older results shrink in place before they are folded."""


class Rung(Struct, frozen=True):
    """How a rung is made to fire."""

    name: str
    window: int
    policy: str = POLICY
    refused: int = 0
    """The limit that the provider names when it refuses the request."""
    asked: bool = False


RUNGS = {
    rung.name: rung
    for rung in (
        Rung("spool", 6_000),
        Rung("snip", 16_000, SHRINKING),
        Rung("micro", 20_000, SHRINKING),
        Rung("collapse", 24_000),
        Rung("auto", LARGEST, asked=True),
        Rung("reactive", LARGEST, refused=9_000),
    )
}


class RungSeen(Struct, frozen=True):
    """A pass that used the rung, and where the facts were around it."""

    rung: str
    window: int
    receipt: dict[str, object]
    before: list[dict[str, object]]
    after: list[dict[str, object]]
    keeps_front: bool
    """Whether everything that the model had read before stayed as it was."""

    def where(self, key: str) -> str:
        """Where a fact is after the pass."""
        return next(str(fact["where"]) for fact in self.after if fact["key"] == key)


@lru_cache(maxsize=len(RUNGS))
def seen_at(name: str) -> RungSeen:
    """Play the session until the rung fires. The recording is fixed, so the answer is kept."""
    rung = RUNGS[name]
    with played(rung.window, rung.policy) as session:
        end = session.last_event
        if rung.asked:
            session.compact()
        if rung.refused:
            session.too_long(session.engine.used, rung.refused)
            session.too_long()  # the provider refuses the smaller request, too
        events = session.events
    made = next(event for event in events if isinstance(event, Compacted) and name in event.receipt.rungs)
    start = min(made.id - 1, end)
    policy = policy_named(rung.policy)
    before, after = Engine(rung.window, policy), Engine(rung.window, policy)
    before.extend(event for event in events if event.id <= start)
    after.extend(event for event in events if event.id <= made.id)
    receipt = receipt_facts(made) | {"before": before.used}
    return RungSeen(name, rung.window, receipt, fates(before), fates(after), made.keeps_front)
