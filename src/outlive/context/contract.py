"""The contract of a pass: checked on the new view before anything is committed."""

from collections.abc import Iterable, Sequence
from itertools import chain

from outlive.context.log.pages import visible_pages
from outlive.context.log.pieces import Piece
from outlive.context.passes.pass_input import PassInput, PassPlan
from outlive.context.passes.user_words import TextFinder
from outlive.context.rendering import sendable
from outlive.context.validity import problems as request_problems
from outlive.messages import Message, Text


def broken(
    given: PassInput,
    plan: PassPlan,
    messages: Sequence[Message],
    unseen: Iterable[Piece],
    before: float,
    after: float,
) -> list[str]:
    """What the pass would break; an empty list means that it may happen."""
    found = [] if after < before else [f"the view would not shrink ({before:.0f} to {after:.0f} tokens)"]
    found += request_problems(sendable(messages)) if messages else ["no messages"]
    found += _lost_request(given, messages)
    found += [f"result {piece.event} was not seen yet" for piece in _touched(given, plan, unseen)]
    return found + _unreachable(given, plan)


def _touched(given: PassInput, plan: PassPlan, arrived: Iterable[Piece]) -> list[Piece]:
    """Results among `arrived` that the plan folds or changes, although the model has not seen them yet."""
    old, new = given.projection.edits, plan.projection.edits
    shown = {p.key for unit in given.units[plan.folded :] for p in unit.pieces}
    results = [piece for piece in arrived if piece.kind == "result"]
    return [piece for piece in results if piece.key not in shown or old.get(piece.key) != new.get(piece.key)]


def _lost_request(given: PassInput, messages: Sequence[Message]) -> list[str]:
    """The current request must stand there in full."""
    current = given.current
    if current is None or not current.text.strip():
        return []
    text = given.projection.edits.get(current.key, current.text)  # a wall was spooled when it arrived
    shown = [b.text for m in messages if m.role == "user" for b in m.blocks if isinstance(b, Text)]
    return [] if any(text in other for other in shown) else ["the current request is not complete"]


def _unreachable(given: PassInput, plan: PassPlan) -> list[str]:
    """Every piece that is not whole in the view must have its handles there; the request is looked at elsewhere."""
    projection, current = plan.projection, given.current
    visible, stands = projection.visible, TextFinder(projection.digest)
    wanted = chain(given.pages.of_steps(0, plan.folded), given.pages.objects(plan.folded))
    reached = visible.issuperset(wanted)
    found = []
    for unit in given.users_before(plan.folded) if reached else given.units[: plan.folded]:
        if not visible.issuperset(unit.objects):
            found.append(f"a picture of event {unit.event} would be out of reach")
        if visible.issuperset(unit.pages):
            continue
        for piece in unit.pieces:
            if visible.issuperset(piece.pages):
                continue
            if piece is not current and (unit.kind != "user" or not stands.holds(piece.text)):
                found.append(f"{piece.kind} {piece.event} would be out of reach")
    for unit in given.units[plan.folded :]:
        for piece in unit.pieces:
            text = projection.edits.get(piece.key)
            if text is not None and not visible_pages(text).issuperset((*piece.pages, *piece.objects)):
                found.append(f"{piece.kind} {piece.event} would be out of reach")
    return found
