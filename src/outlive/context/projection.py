"""A projection: which units are folded into the digest, and which blocks read differently.

It comes from the newest pass in the log that was not undone, so the same log always gives the same view.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from outlive.context.log.pages import pages_of_segment
from outlive.context.log.pieces import Piece
from outlive.context.log.units import Unit
from outlive.context.tokens import IMAGE_TOKENS, estimate
from outlive.events import SPOOL_ONLY, Compacted, ProviderSummary
from outlive.messages import Origin

Edits = Mapping[tuple[int, int], str]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the digest, which later passes leave as it is until one merges it with others."""

    event: int
    """The pass that wrote it; 0 while it is planned."""
    text: str
    origin: Origin = ""
    """`user`: the user's own words, which stand before what the same pass says of the rest."""
    tokens: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", estimate(self.text))


@dataclass(frozen=True, slots=True)
class Projection:
    """How the log is shown."""

    event: int = 0
    """The pass it comes from; 0 when there was none."""
    fold_to: int = 0
    segments: tuple[Segment, ...] = ()
    """The digest, oldest first."""
    edits: Edits = field(default_factory=dict)
    summary: str = ""
    pictures: tuple[tuple[int, int], ...] = ()
    """Pictures of the current request, if the request is in the digest."""
    request: str = ""
    """The current request, if its unit is folded; shown below the digest."""
    shown_to: int = 0
    """The newest pass that changed what had been shown: state blocks before it are gone, results that came late until
    then are in their place."""
    facts: str = ""
    """What the ledger tells; shown below the digest."""
    provider_summary: ProviderSummary | None = None
    digest_after: int = 0
    """Units before this event are shown before the digest; 0 if all units come after it."""

    @property
    def digest(self) -> str:
        return "\n".join(segment.text for segment in self.segments)

    @property
    def visible(self) -> frozenset[int]:
        """The pages whose handles stand in the digest."""
        return frozenset[int]().union(*(pages_of_segment(segment.text) for segment in self.segments))

    @property
    def front(self) -> tuple[Segment, ...]:
        """The parts of the digest with which the messages begin."""
        return () if self.digest_after else self.segments


def projection_of(event: Compacted, before: Projection) -> Projection:
    """The projection that a pass put in force: the one before, if that lacks what the pass keeps of it."""
    if not {segment.event for segment in before.segments} >= set(event.keeps):
        return before
    kept = [segment for segment in before.segments if segment.event in event.keeps]
    kept += [Segment(event.id, event.words, "user")] if event.words else []
    kept += [Segment(event.id, event.digest)] if event.digest else []
    return Projection(
        event.id,
        event.fold_to,
        tuple(kept),
        {(edit.event, edit.block): edit.text for edit in event.edits},
        event.summary,
        event.pictures,
        event.request,
        _shown_to(event, before),
        event.facts,
        event.provider_summary,
        event.digest_after,
    )


def _shown_to(event: Compacted, before: Projection) -> int:
    if event.receipt.rungs == SPOOL_ONLY:
        return before.shown_to
    return event.fold_to if event.digest_after else event.id


def digest_tokens(projection: Projection) -> float:
    """Tokens of the digest, the facts, the request and the pictures."""
    beside = estimate(projection.facts) + estimate(projection.request) + IMAGE_TOKENS * len(projection.pictures)
    summary = projection.provider_summary
    return segment_tokens(projection.segments) + beside + (summary.tokens if summary else 0)


def segment_tokens(segments: Iterable[Segment]) -> float:
    """Tokens of these parts of the digest."""
    return sum(segment.tokens for segment in segments)


def passes_of(segments: Iterable[Segment]) -> int:
    """How many passes wrote these parts of the digest."""
    return len({segment.event for segment in segments})


def unit_tokens(unit: Unit, projection: Projection) -> float:
    """Tokens of a unit as it is shown."""
    return unit.extra + sum(shown_tokens(piece, projection) for piece in unit.pieces)


def shown_tokens(piece: Piece, projection: Projection) -> float:
    """Tokens of a piece as it is shown."""
    text = projection.edits.get(piece.key)
    return piece.tokens if text is None else estimate(text)
