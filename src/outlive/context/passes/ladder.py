"""The ladder: decides which rung is due, from cheap to expensive, and how far it goes.

`spool` when something too large arrives; one pass of `micro`, `snip` and `collapse` above the high-water mark (or
earlier, when the cache is cold anyway); `auto` on request; `provider` when a summary of the provider has come;
`reactive` when the provider refuses. Two attempts.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from outlive.context import policy
from outlive.context.contract import broken
from outlive.context.errors import BrokenContract, FloorError
from outlive.context.ledger import facts
from outlive.context.log.pieces import Line
from outlive.context.passes.lines.pool import LineCache, choose_pool, pool_change
from outlive.context.passes.pass_input import PassDepth, PassInput, PassPlan, current_request
from outlive.context.passes.plan import plan_pass, view_tokens
from outlive.context.passes.protect import guarded
from outlive.context.passes.receipts import make_receipt
from outlive.context.passes.spool import spool
from outlive.context.passes.survey import floor_tokens, survey_pass, tail_of
from outlive.context.passes.user_words import at_most
from outlive.context.policy import Budget
from outlive.context.projection import digest_tokens, passes_of, segment_tokens, shown_tokens, unit_tokens
from outlive.context.rendering import conversation
from outlive.context.tokens import estimate
from outlive.context.view import View
from outlive.events import SPOOL_ONLY, Compacted, ProviderSummary, Renewed, ViewEdit

PROVIDER = "provider"
FLOOR = PassDepth("reactive", 0.0, 0.0, 0.0, 0.0, squeeze=True)
"""The newest unit and nothing else stays whole."""


class Ladder:
    """Decides and plans the passes of one session. `commit` takes in the event that puts a pass in force."""

    def __init__(self, view: View, commit: Callable[[Compacted], None]) -> None:
        self.problems: tuple[str, ...] = ()
        """Why the last planned pass was not made."""
        self._view = view
        self._commit = commit
        self._lines = LineCache()
        self._after_pass = 0.0
        """Tokens of the view when the last pass was made."""
        self._passed_at = -policy.SOON - 1
        """Units at that time."""
        self._asked = 0.0
        """Tokens of the last request that was answered."""
        self._tried = 0
        """`_grown` at the last answer."""
        self._answers = 0
        self._refusals = 0
        self._settled: tuple[int, int, str] | None = None

    # -- what happened

    def answered(self) -> None:
        """The model answered the view as it is."""
        self._asked = self._view.estimate()
        self._tried = self._grown()
        self._answers += 1
        self._view.history.index.carried += segment_tokens(self._view.projection.segments)
        self._refusals = 0

    def passed(self, event: Compacted | Renewed) -> None:
        """A pass is in force."""
        self._lines.clear()
        self._passed_at = len(self._view.history.units)
        self._start_count()
        if isinstance(event, Compacted):
            self._settled = self._now(event.focus) if "auto" in event.receipt.rungs else None

    def undone(self) -> None:
        """A pass was taken back; it is not made again at once."""
        self._settled, self._refusals = None, 0
        self._start_count()

    def _start_count(self) -> None:
        """Count growth towards the next pass from here."""
        self._after_pass, self._tried, self._answers = self._view.tokens, 0, 0

    def _grown(self) -> int:
        """What came since the last pass, in steps of the smallest gain that is worth one."""
        return int((self._view.tokens - self._after_pass) / max(self._view.budget.gain, 1))

    def _now(self, focus: str) -> tuple[int, int, str]:
        """Key of a requested pass: the same request again without anything new does nothing."""
        units = self._view.history.units
        return len(units), units[-1].last_event if units else 0, focus

    # -- when

    def due(self, now: float | None, total: float) -> str:
        """Why a pass is due for a request of `total` tokens, or nothing.

        Without a new step of growth since the last answer no pass is tried again, so one that cannot help is not
        planned each turn, and nobody has to find out where a pass would engage.
        """
        budget, grown = self._view.budget, self._grown()
        if total > budget.hard:
            return "limit"
        if not grown:
            return ""
        if total > budget.cold and self._view.is_cold(now):
            return "cold"
        time_to_pay = 0.0 if self._view.awaits_summary else self._time_to_pay()
        return "pressure" if grown > self._tried and total > self._high_water(time_to_pay) else ""

    def next_pass(self) -> float:
        """At how many tokens the next pass engages, as it looks now; shortly after a pass it waits longer."""
        budget = self._view.budget
        return min(self._high_water(budget.break_even), budget.hard)

    def left(self, tail: float = 1.0) -> float:
        """How many tokens the request would have after a pass, as it looks now, with so much of the usual tail."""
        return left_by_pass(self.given(compacted=True), tail * self._view.budget.tail)

    def _time_to_pay(self) -> float:
        """How many requests a pass has to pay for itself: at most half as many as were answered since the last one.

        At an even growth it is cheapest to pass where carrying the rest along has cost as much as the pass will.
        """
        return min(self._view.budget.break_even, self._answers / 2)

    def _high_water(self, requests: float) -> float:
        """Where a pass engages: at its share of the window, or earlier if it pays within so many requests."""
        budget = self._view.budget
        if not requests:
            return budget.engage
        left = self.left()
        arrived = max(self._view.estimate() - self._asked, 0.0)
        stable = self._view.history.overhead + segment_tokens(self._view.cached_front)
        pays = pays_from(left, stable, arrived, requests)
        return min(budget.engage, max(pays, left + budget.gain))

    # -- the rungs

    def relieve(self, now: float | None) -> list[Compacted]:
        """Make the passes that are due before the next request. Raises FloorError."""
        view, hard = self._view, self._view.budget.hard
        if view.history.mid_batch and view.full() <= hard:
            return []
        made = self._spool_arrived()
        total = view.full()
        reason = self.due(now, total)
        if not reason:
            return made
        best = self._usual_plan(reason)
        if (best[1] if best else total) > hard:
            best = self._plan(FLOOR, reason) or best
        if best:
            made.append(self._make(best[0], reason, after=best[1]))
        if view.full() <= hard:
            return made
        unseen = sum(shown_tokens(piece, view.projection) for piece in view.history.unseen())
        if plan := self._previews(self.given(), unseen + policy.SAFE * hard - view.full(), again=True):
            made.append(self._make(plan, "limit"))
        if view.full() > view.window / view.meter.ratio:
            raise FloorError(view.window, view.breakdown(), made)
        return made

    def asked(self, focus: str, summary: str) -> Compacted | None:
        """Fold all but the tail on request; None if that saves nothing."""
        if self._view.history.mid_batch or (self._settled == self._now(focus) and not summary):
            return None
        budget = self._view.budget
        depth = PassDepth("auto", budget.target, budget.tail, 0.0, budget.lines)
        found = self._plan(depth, "asked", focus, summary)
        return self._make(found[0], "asked", focus, found[1]) if found else None

    def may_gain(self, focus: str) -> bool:
        """Whether a pass that is asked for now would save anything, judged by one without a summary."""
        budget = self._view.budget
        depth = PassDepth("auto", budget.target, budget.tail, 0.0, budget.lines)
        return not self._view.history.mid_batch and self._plan(depth, "asked", focus) is not None

    def summarized(self, summary: ProviderSummary, fold: int, about: str) -> Compacted | None:
        """The provider's summary replaces so many units, and the digest stands below the rest; None if that is no
        gain."""
        depth = PassDepth(PROVIDER, self._view.budget.target, 0.0, 0.0, self._view.budget.lines, fold=fold)
        found = self._plan(depth, "summary", summary=about, provider_summary=summary)
        return self._make(found[0], "summary", after=found[1]) if found else None

    def summary_end(self) -> int:
        """How many units a summary has to cover: up to an answer, which begins a message, and with a digest that
        stands among them; 0 if it is not worth it."""
        view, units, budget = self._view, self._view.history.units, self._view.budget
        start = tail_of(self.given(), budget.tail)
        while start > view.folded and units[start].kind == "user":
            start -= 1
        covered = sum(unit_tokens(unit, view.projection) for unit in units[view.folded : start])
        gain = (1 - budget.lines_of_past) * covered - policy.SUMMARY_TOKENS
        return start if gain >= budget.gain and units[start].event > view.projection.digest_after else 0

    def refused(self) -> Compacted:
        """The provider refused the request as too long: a usual pass, at the second refusal (or if that cannot be
        enough) down to the floor. Raises FloorError."""
        self._refusals += 1
        found = self._usual_plan("refused") if self._refusals == 1 else None
        if self._refusals <= policy.ATTEMPTS and (found is None or found[1] > self._view.budget.hard):
            found = self._plan(FLOOR, "refused") or found
        if found is None:
            raise FloorError(self._view.window, self._view.breakdown())
        return self._make(found[0], "refused", after=found[1])

    def _usual_plan(self, reason: str) -> tuple[PassPlan, float] | None:
        """Under pressure, or with a cold cache; deeper when the last pass was only a few units ago.

        While the cache is warm the digest is left as it is, unless it pays to write a smaller one.
        """
        budget = self._view.budget
        soon = len(self._view.history.units) - self._passed_at <= policy.SOON
        fill_to = (policy.DEEP if soon else policy.SHALLOW) * budget.engage
        whole = PassDepth("", budget.target, budget.tail, budget.skeleton, budget.lines, fill_to=fill_to)
        if reason == "cold":
            whole = replace(whole, tail=policy.COLD_TAIL * budget.tail)
        given = self.given(compacted=True)
        survey = survey_pass(given, whole)
        if 0 < passes_of(self._view.cached_front) < policy.MOST_SEGMENTS and reason != "cold":
            plan = plan_pass(given, replace(whole, append=True), survey)
            if not plan.appends:
                return self._checked(given, plan, reason)
            if plan.tokens <= fill_to and (found := self._checked(given, plan, reason)):
                return found
        return self._checked(given, plan_pass(given, whole, survey), reason)

    def _spool_arrived(self) -> list[Compacted]:
        """Previews, but only when what arrived does not fit beside the least that must stay."""
        budget = self._view.budget
        arrived = sum(piece.tokens for piece in self._view.history.unseen())
        if arrived <= budget.spool:
            return []
        given = self.given(compacted=True)
        room = arrived + policy.SAFE * budget.hard - floor_tokens(given)
        if arrived <= room:
            return []
        plan = self._previews(given, room, policy.DIGEST_ROOM * budget.window)
        return [self._make(plan, "arrival")] if plan else []

    def _previews(self, given: PassInput, room: float, spare: float = 0.0, *, again: bool = False) -> PassPlan | None:
        """Rung 0 for what has just arrived; nothing that was sent before changes."""
        old = given.projection
        arrived = [piece for piece in self._view.history.unseen() if again or piece.key not in old.edits]
        previews = spool(arrived, room, given.budget.spool, spare)
        if not previews:
            return None
        projection = replace(old, event=0, edits={**old.edits, **previews})
        return PassPlan(projection, given.folded, SPOOL_ONLY, shrunk=len(previews))

    # -- planning and committing

    def given(
        self,
        focus: str = "",
        summary: str = "",
        *,
        provider_summary: ProviderSummary | None = None,
        compacted: bool = False,
    ) -> PassInput:
        """What a pass may look at; `compacted` counts the state block as it will be at most after it.

        A new summary replaces the one before.
        """
        view, history = self._view, self._view.history
        block = estimate(view.state_block(compacted=compacted).text)
        return PassInput(
            units=history.units,
            users=history.user_units,
            words=history.user_words,
            pages=history.unit_pages,
            index=history.index,
            projection=view.projection,
            folded=view.folded,
            pool=view.pool,
            lines=self._lines,
            overhead=history.overhead + block,
            budget=view.budget,
            guard=guarded(history.state, history.ledger, focus),
            current=current_request(reversed(history.user_units)),
            facts=facts(history.ledger),
            summary=summary or view.projection.summary,
            provider_summary=provider_summary if summary else view.projection.provider_summary,
        )

    def _plan(
        self,
        depth: PassDepth,
        reason: str,
        focus: str = "",
        summary: str = "",
        provider_summary: ProviderSummary | None = None,
    ) -> tuple[PassPlan, float] | None:
        """A pass of this depth, and the tokens after it; None if it is not worth it."""
        given = self.given(focus, summary, provider_summary=provider_summary, compacted=True)
        plan = plan_pass(given, depth)
        if depth.rung:
            plan.rungs = (*plan.rungs, depth.rung)
        if depth.fold is not None:
            plan.projection = replace(plan.projection, digest_after=self._view.history.last_id + 1)
        return self._checked(given, plan, reason)

    def _checked(self, given: PassInput, plan: PassPlan, reason: str) -> tuple[PassPlan, float] | None:
        """The plan and the tokens after it, if it keeps its contract and is worth a broken cache."""
        before, after = self._view.estimate(), view_tokens(given, plan)
        try:
            self._check(given, plan, before, after)
        except BrokenContract as error:
            self.problems = error.problems
            return None
        return None if before - after < _worth(self._view.budget, reason) else (plan, after)

    def _check(self, given: PassInput, plan: PassPlan, before: float, after: float) -> None:
        messages = conversation(given.units, plan.projection)
        if problems := broken(given, plan, messages, self._view.history.unseen(), before, after):
            raise BrokenContract(problems)

    def _make(self, plan: PassPlan, reason: str, focus: str = "", after: float = 0.0) -> Compacted:
        """Commit a plan."""
        given, history, projection = self.given(focus), self._view.history, plan.projection
        after = after or view_tokens(given, plan)
        pool = self._next_pool(plan)
        new = [segment for segment in projection.segments if not segment.event]
        event = Compacted(
            id=history.last_id + 1,
            time=history.last_time,
            parent=history.last_id,
            fold_to=projection.fold_to,
            words="".join(segment.text for segment in new if segment.origin),
            digest="".join(segment.text for segment in new if not segment.origin),
            keeps=tuple(dict.fromkeys(segment.event for segment in projection.segments if segment.event)),
            facts=projection.facts,
            edits=tuple(ViewEdit(event, block, text) for (event, block), text in sorted(projection.edits.items())),
            receipt=make_receipt(history, given, plan, reason, self._view.estimate(), after),
            focus=focus,
            summary=projection.summary,
            pages=history.pages.unlogged(),
            pictures=projection.pictures,
            request=projection.request,
            provider_summary=projection.provider_summary,
            digest_after=projection.digest_after,
            pool=None
            if pool is None
            else pool_change(self._view.pool(), pool, self._view.pool_from if plan.appends else 0),
        )
        self._commit(event)
        if pool is not None:
            self._view.keep_pool(pool)
            history.index.settle()
        return event

    def _next_pool(self, plan: PassPlan) -> list[Line] | None:
        """The lines that later passes choose from, if the plan folds something."""
        view = self._view
        units = view.history.units[view.folded : plan.folded]
        if not units:
            return None
        fresh = (self._lines.of(piece) for unit in units for piece in unit.pieces)
        return choose_pool(view.history.index, chain.from_iterable(chain((view.pool(),), fresh)), view.budget)


def _worth(budget: Budget, reason: str) -> float:
    """What a pass must free to be made."""
    if reason in ("refused", "limit"):
        return 1.0
    return min(budget.gain, policy.ASKED_GAIN * budget.window) if reason == "asked" else budget.gain


def pays_from(after: float, fixed: float, arrived: float, requests: float) -> float:
    """Request size above which a pass pays for itself within `requests` further requests.

    The pass leaves `after` tokens and writes them to the cache. The `fixed` part (system prompt, tools) is read from
    the cache either way, and what `arrived` since the last request is written either way.
    """
    written = max(after - fixed - arrived, 0.0)
    return (policy.CACHE_WRITE * written + fixed + arrived + requests * after) / (requests + 1)


def left_by_pass(given: PassInput, least_tail: float) -> float:
    """Estimate the tokens that a pass would leave, this much of a tail at least. Linear in the units of the view."""
    start = tail_of(given, least_tail)
    tokens = given.overhead + digest_tokens(given.projection)
    for unit in given.units[given.folded : start]:
        words = sum(min(piece.tokens, at_most(piece)) for piece in unit.pieces if piece.kind == "user")
        tokens += words + policy.FOLDED_SHARE * (unit.tokens - words)
    tail = sum(unit_tokens(unit, given.projection) for unit in given.units[start:])
    return tokens + max(tail, least_tail)
