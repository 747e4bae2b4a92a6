"""What the view is made of: for a client that sends its own messages where ours would say the same."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from outlive.context.log.units import Unit
from outlive.context.rendering import digest_messages, join, opening, unit_messages
from outlive.context.view import View
from outlive.messages import Message, Text


@dataclass(frozen=True, slots=True)
class ShownUnit:
    """A unit that is not folded, and what is to be said in other words in it."""

    number: int
    """Which unit of the session it is, counted from 0."""
    texts: Mapping[int, str]
    """By block of the user's message or of the answer."""
    results: Mapping[str, str]
    """By call."""
    thinking: bool
    """Whether its thinking may be sent: it was thought after the messages that stand before it."""


def layout(view: View) -> Iterator[ShownUnit | Message]:
    """The view in order: units, and between them messages of our own (the digest, state blocks)."""
    view.render_new()
    projection, units = view.projection, view.history.units
    messages: list[Message] = []
    for part in _parts(view):
        if isinstance(part, Message):
            join(messages, [part])
            yield part
            continue
        unit = units[part]
        join(messages, unit_messages(unit, projection.edits, projection.shown_to))
        at = len(messages) - (2 if unit.calls else 1)
        texts = {block: text for (event, block), text in projection.edits.items() if event == unit.event}
        results = {
            call: projection.edits[finished.id, 0]
            for call, finished in unit.results.items()
            if (finished.id, 0) in projection.edits
        }
        yield ShownUnit(part, texts, results, at >= view.thinking_from)


def _parts(view: View) -> Iterator[int | Message]:
    """The numbers of the units that are shown, and our own messages, in the order in which the view has them."""
    projection, units = view.projection, view.history.units
    after = projection.digest_after
    yield from opening(units, projection)
    kept = [number for number in range(view.folded, len(units)) if units[number].event <= after]
    for number in kept:
        yield number
        yield from _states(view, units[number], until=after)
    if after:
        yield from digest_messages(units, projection)
    for number in kept:
        yield from _states(view, units[number], since=after)
    for number in range(view.folded + len(kept), len(units)):
        yield number
        yield from _states(view, units[number])


def _states(view: View, unit: Unit, *, since: int = 0, until: float = float("inf")) -> Iterator[Message]:
    since = max(since, view.projection.shown_to)
    return (Message("user", (Text(s.text, "harness"),)) for s in unit.states if since < s.id < until)
