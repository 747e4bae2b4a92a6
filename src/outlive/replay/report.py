"""The report of a replay: sizes by kind, passes, what left, and costs."""

from msgspec import Struct
from msgspec.structs import asdict

from outlive.context.engine import Engine
from outlive.context.passes.departures import Departure, piece_departures
from outlive.context.projection import Projection, projection_of
from outlive.context.tokens import CHARS_PER_TOKEN
from outlive.events import Compacted
from outlive.messages import Block, Role, Text, Thinking, ToolCall, ToolResult
from outlive.replay.cache_misses import CacheAccount, cache_account
from outlive.replay.costs import CACHE_LIFETIME_SECONDS, OUTPUT, READ, WRITE, Cache, RequestCost, Texts
from outlive.replay.player import Replay, ReplayStep
from outlive.replay.recording import Recording
from outlive.request import Request

KINDS = ("system", "digest", "user", "assistant", "calls", "results", "shrunk", "state")
"""In the order of a request; `shrunk` is the rest of results that were shortened."""
MAX_DEPARTURES_LISTED = 40
"""How many of the pieces that left in a pass are listed, largest first."""


class Pass(Struct, frozen=True):
    turn: int
    event: int
    reason: str
    rungs: tuple[str, ...]
    before: int
    after: int
    units_shrunk: int
    units_folded: int
    lines_kept: int
    seconds: float
    left: tuple[Departure, ...]
    left_tokens: int


class ReplayTurn(Struct, frozen=True):
    """One model call: size of its request by kind, and cost, both also without compaction."""

    turn: int
    time: float
    tokens: int
    kinds: dict[str, int]
    price: RequestCost
    plain_tokens: int
    plain_price: RequestCost
    passes: int = 0


class RefusedRequest(Struct, frozen=True):
    turn: int
    why: str


class ReplayReport(Struct, frozen=True):
    session: str
    format: str
    model: str
    task: str
    window: int
    policy: str
    messages: int
    turns: tuple[ReplayTurn, ...]
    passes: tuple[Pass, ...]
    refused: tuple[RefusedRequest, ...]
    skipped: tuple[str, ...]
    recorded_cache: CacheAccount | None = None
    """What the recorded program itself paid."""

    @property
    def cost(self) -> float:
        return sum(turn.price.cost for turn in self.turns)

    @property
    def plain_cost(self) -> float:
        return sum(turn.plain_price.cost for turn in self.turns)

    @property
    def ratio(self) -> float:
        return self.cost / self.plain_cost if self.plain_cost else 1.0

    @property
    def largest(self) -> int:
        return max((turn.tokens for turn in self.turns), default=0)

    @property
    def plain_largest(self) -> int:
        return max((turn.plain_tokens for turn in self.turns), default=0)

    @property
    def cached(self) -> float:
        """The share of all input that was read from the cache."""
        read = sum(turn.price.read for turn in self.turns)
        total = read + sum(turn.price.written for turn in self.turns)
        return read / total if total else 0.0

    def form(self) -> dict[str, object]:
        sums = {
            "cost": round(self.cost),
            "cost_without_compaction": round(self.plain_cost),
            "ratio": round(self.ratio, 4),
            "cached": round(self.cached, 4),
            "largest_request": self.largest,
            "largest_without_compaction": self.plain_largest,
            "prices": {"write": WRITE, "read": READ, "output": OUTPUT, "cache_seconds": CACHE_LIFETIME_SECONDS},
        }
        return sums | asdict(self)


class Account:
    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._texts = Texts()
        self._cache = Cache()
        self._turns: list[ReplayTurn] = []
        self._passes: list[Pass] = []
        self._refused: list[RefusedRequest] = []
        self._plain = len(replay.recording.system) / CHARS_PER_TOKEN
        self._plain_cached = 0.0
        self._plain_used = 0.0
        self._counted = 0
        self._before = Projection()

    def take(self, step: ReplayStep) -> None:
        recording = self._replay.recording
        for recorded in recording.messages[self._counted : step.turn]:
            self._plain += self._texts.tokens(recorded.message)
        self._counted = step.turn
        engine = self._replay.session.engine
        for event in step.passes:
            self._passes.append(_pass(step.turn, event, self._before, engine))
            self._before = projection_of(event, self._before)
        output = self._texts.tokens(recording.messages[step.turn].message)
        plain = self._plain_price(step.time, output)
        if step.request is None:
            self._refused.append(RefusedRequest(step.turn, step.refused))
            return
        parts = self._texts.request(step.request)
        self._turns.append(
            ReplayTurn(
                turn=step.turn,
                time=step.time,
                tokens=round(sum(map(len, parts)) / CHARS_PER_TOKEN),
                kinds=self._kinds(step.request, engine.projection),
                price=self._cache.ask(parts, step.time, output),
                plain_tokens=round(self._plain),
                plain_price=plain,
                passes=len(step.passes),
            )
        )

    def report(self, *, window: int, policy: str) -> ReplayReport:
        recording: Recording = self._replay.recording
        return ReplayReport(
            session=recording.id,
            format=recording.format,
            model=recording.model,
            task=recording.task,
            window=window,
            policy=policy,
            messages=len(recording.messages),
            turns=tuple(self._turns),
            passes=tuple(self._passes),
            refused=tuple(self._refused),
            skipped=recording.skipped,
            recorded_cache=cache_account(recording.usage),
        )

    def _plain_price(self, time: float, output: float) -> RequestCost:
        """Return the cost without compaction, where each request extends the one before."""
        cached = self._plain_cached if time - self._plain_used <= CACHE_LIFETIME_SECONDS else 0.0
        self._plain_cached, self._plain_used = self._plain, time
        return RequestCost(cached, self._plain - cached, output)

    def _kinds(self, request: Request, projection: Projection) -> dict[str, int]:
        short = set(projection.edits.values())
        digest = {projection.facts, *(segment.text for segment in projection.segments)}
        sums = dict.fromkeys(KINDS, 0)
        sums["system"] = len(request.system)
        for message in request.messages:
            for block in message.blocks:
                text = self._texts.of(block)
                sums[_kind(message.role, block, text, digest, short)] += len(text)
        return {kind: round(chars / CHARS_PER_TOKEN) for kind, chars in sums.items()}


def _kind(role: Role, block: Block, text: str, digest: set[str], short: set[str]) -> str:
    match block:
        case ToolResult():
            return "shrunk" if text in short else "results"
        case ToolCall():
            return "calls"
        case Thinking():
            return "assistant"
        case Text() if role == "user":
            return "state" if block.origin == "harness" else "digest" if text in digest else "user"
        case _:
            return role


def _pass(turn: int, event: Compacted, before: Projection, engine: Engine) -> Pass:
    found = piece_departures(event, before, engine.history.units)
    left = sorted(found, key=lambda item: (item.after - item.before, item.event))
    receipt = event.receipt
    return Pass(
        turn=turn,
        event=event.id,
        reason=receipt.reason,
        rungs=receipt.rungs,
        before=receipt.before,
        after=receipt.after,
        units_shrunk=receipt.units_shrunk,
        units_folded=receipt.units_folded,
        lines_kept=receipt.lines_kept,
        seconds=receipt.seconds,
        left=tuple(left[:MAX_DEPARTURES_LISTED]),
        left_tokens=sum(item.before - item.after for item in left),
    )
