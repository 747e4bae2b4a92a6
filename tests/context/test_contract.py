"""Each clause of the contract on its own: a plan that breaks one of them, and no other, does not happen."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from outlive import events as ev
from outlive.context.contract import broken
from outlive.context.engine import Engine
from outlive.context.log.pages import visible_pages
from outlive.context.passes import ladder
from outlive.context.passes.pass_input import PassDepth, PassInput, PassPlan
from outlive.context.passes.plan import plan_pass, view_tokens
from outlive.context.passes.stubs import header
from outlive.context.passes.survey import Survey
from outlive.context.policy import Policy
from outlive.context.projection import Segment
from outlive.context.rendering import conversation
from outlive.messages import Message, Text, ToolResult
from tests.context.story import Story, body

POLICY = Policy(name="small", tail_tokens=600, tail=0.1, skeleton=0.2, payback=0)
REQUEST = (
    "Please fix the parser: it reads a comma in a number as the end of a field, and a minus sign as a range. "
    "Never touch vendor/ files, keep the public names, and say at the end which recorded files are read otherwise."
)

Spoil = Callable[[PassInput, PassPlan], PassPlan]


def due_engine(*words: str) -> Engine:
    """An engine in which a pass is due, though all would still fit; the newest results were not seen yet."""
    engine, story, taken = Engine(40_000, POLICY), Story(), 0
    story.add(ev.SessionStarted, session="s", system="You are careful.")
    for text in words:
        story.user(text)
    while not engine.due():
        number = len(story.events)
        story.step(body(number, 20), body(number + 500, 20), said="Going on.", picture=number % 2 == 0)
        engine.extend(story.events[taken:])
        taken = len(story.events)
    assert engine.due() == "pressure"
    return engine


@pytest.fixture
def engine() -> Engine:
    return due_engine(REQUEST)


def planned(engine: Engine, monkeypatch: pytest.MonkeyPatch, spoil: Spoil) -> tuple[PassInput, PassPlan]:
    """Ask for the next request while every plan is spoilt; what was planned from, and the spoilt plan."""
    seen: list[tuple[PassInput, PassPlan]] = []

    def plan(given: PassInput, depth: PassDepth, survey: Survey | None = None) -> PassPlan:
        seen.append((given, spoil(given, plan_pass(given, depth, survey))))
        return seen[-1][1]

    monkeypatch.setattr(ladder, "plan_pass", plan)
    engine.next_request()
    return seen[0]


def shown_as(plan: PassPlan, **changes: object) -> PassPlan:
    if "digest" in changes:
        changes["segments"] = (Segment(0, str(changes.pop("digest"))),)
    return replace(plan, projection=replace(plan.projection, **changes))  # type: ignore[arg-type]


def without_handles(text: str, pages: tuple[int, ...]) -> str:
    for page in pages:
        text = re.sub(rf"@h{page}(?![0-9])", "", text)
    return text


def good(given: PassInput, plan: PassPlan) -> PassPlan:
    return plan


# -- ways to break it


def grown(given: PassInput, plan: PassPlan) -> PassPlan:
    return shown_as(plan, digest=plan.projection.digest + "\n" + "more and more " * 20_000)


def no_handle_in_the_digest(given: PassInput, plan: PassPlan) -> PassPlan:
    """The handles of one folded result are gone."""
    return shown_as(plan, digest=without_handles(plan.projection.digest, given.units[5].pieces[-1].pages))


def no_handle_in_a_stub(given: PassInput, plan: PassPlan) -> PassPlan:
    """A result that shrank in its place does not say where the rest is."""
    newest = max(plan.projection.edits)
    return shown_as(plan, edits={**plan.projection.edits, newest: "[shrunk]"})


def no_picture_in_the_digest(given: PassInput, plan: PassPlan) -> PassPlan:
    """Of one folded result the text can be had again, but not its picture."""
    objects = next(unit.objects for unit in given.units[: plan.folded] if unit.objects)
    return shown_as(plan, digest=without_handles(plan.projection.digest, objects))


def no_picture_in_a_stub(given: PassInput, plan: PassPlan) -> PassPlan:
    """A result that shrank in its place says where its text is, but not its picture."""
    edits = plan.projection.edits
    piece = next(p for unit in given.units for p in unit.pieces if p.key in edits and p.objects)
    return shown_as(plan, edits={**edits, piece.key: without_handles(edits[piece.key], piece.objects)})


def unseen_shrunk(given: PassInput, plan: PassPlan) -> PassPlan:
    piece = given.units[-1].pieces[-1]
    return shown_as(plan, edits={**plan.projection.edits, piece.key: header(piece)})


def unseen_folded(given: PassInput, plan: PassPlan) -> PassPlan:
    """Everything is folded, every handle and the request are there, but the newest results were never seen."""
    pages = {page for unit in given.units for piece in unit.pieces for page in (*piece.pages, *piece.objects)}
    digest = "\n".join([" ".join(f"@h{page}" for page in sorted(pages)), f"User: {REQUEST}"])
    folded = shown_as(plan, digest=digest, edits={}, fold_to=given.units[-1].event)
    return replace(folded, folded=len(given.units))


def request_cut(given: PassInput, plan: PassPlan) -> PassPlan:
    """The last character is missing."""
    return shown_as(plan, request=REQUEST[:-1])


def request_begun_late(given: PassInput, plan: PassPlan) -> PassPlan:
    return shown_as(plan, request=REQUEST[1:])


def test_a_good_plan_breaks_nothing_and_has_all_that_is_spoilt_here(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, plan = planned(engine, monkeypatch, good)
    assert plan.folded > 6
    assert plan.projection.edits
    assert plan.projection.request == REQUEST
    assert engine.projection.digest == plan.projection.digest
    assert engine.problems == ()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (grown, "the view would not shrink"),
        (no_handle_in_the_digest, "would be out of reach"),
        (no_handle_in_a_stub, "would be out of reach"),
        (no_picture_in_the_digest, "a picture of event"),
        (no_picture_in_a_stub, "would be out of reach"),
        (unseen_shrunk, "was not seen yet"),
        (unseen_folded, "was not seen yet"),
        (request_cut, "the current request is not complete"),
        (request_begun_late, "the current request is not complete"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_plan_that_breaks_a_clause_does_not_happen(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, spoil: Spoil, said: str
) -> None:
    last, before = engine.history.last_id, engine.live_request().messages
    planned(engine, monkeypatch, spoil)
    assert engine.problems
    assert all(said in problem for problem in engine.problems), engine.problems
    assert engine.history.last_id == last
    assert engine.live_request().messages == before


def test_a_view_of_the_same_size_is_not_smaller(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    unseen = engine.history.unseen()
    given, plan = planned(engine, monkeypatch, good)
    messages, size = conversation(given.units, plan.projection), view_tokens(given, plan)
    (problem,) = broken(given, plan, messages, unseen, size, size)
    assert "would not shrink" in problem
    assert broken(given, plan, messages, unseen, size + 0.1, size) == []


def test_the_request_in_words_of_the_model_does_not_count(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    unseen = engine.history.unseen()
    given, plan = planned(engine, monkeypatch, good)
    cut = shown_as(plan, request="")
    first, answer, *others = conversation(given.units, cut.projection)
    messages = [first, Message("assistant", (Text(REQUEST), *answer.blocks)), *others]
    assert broken(given, cut, messages, unseen, 2.0, 1.0) == ["the current request is not complete"]


def test_the_request_in_a_result_does_not_count(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    unseen = engine.history.unseen()
    given, plan = planned(engine, monkeypatch, good)
    cut = shown_as(plan, request="")
    *messages, last = conversation(given.units, cut.projection)
    results = tuple(ToolResult(block.call_id, REQUEST) for block in last.blocks if isinstance(block, ToolResult))
    assert results
    messages.append(Message("user", results))
    assert broken(given, cut, messages, unseen, 2.0, 1.0) == ["the current request is not complete"]


def test_only_results_must_be_seen_before_they_are_folded(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    given, plan = planned(engine, monkeypatch, good)
    words, messages = given.units[0].pieces, conversation(given.units, plan.projection)
    assert given.units[0].event <= plan.projection.fold_to
    assert broken(given, plan, messages, words, 2.0, 1.0) == []


def test_a_session_in_which_no_user_said_anything_can_be_compacted() -> None:
    engine = due_engine()
    assert engine.next_request().passes
    assert engine.problems == ()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda messages: messages[:-1], "are answered by"),
        (lambda messages: [messages[0], *messages[2:]], "two user messages in a row"),
        (lambda messages: messages[1:], "the first message is not the user's"),
    ],
)
def test_a_view_that_no_provider_takes_does_not_happen(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[list[Message]], list[Message]], said: str
) -> None:
    monkeypatch.setattr(ladder, "conversation", lambda units, projection: spoil(conversation(units, projection)))
    last = engine.history.last_id
    engine.next_request()
    assert said in "; ".join(engine.problems)
    assert engine.history.last_id == last


def test_words_of_the_user_need_a_handle_only_where_they_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "First of all, this matters: " + "it is like that. " * 200
    engine = due_engine(words, REQUEST)

    def no_handle(given: PassInput, plan: PassPlan) -> PassPlan:
        return shown_as(plan, digest=without_handles(plan.projection.digest, given.units[0].pieces[0].pages))

    def cut(given: PassInput, plan: PassPlan) -> PassPlan:
        spoilt = no_handle(given, plan)
        return shown_as(spoilt, digest=spoilt.projection.digest.replace(words, words[:40]))

    planned(engine, monkeypatch, cut)
    assert engine.problems == ("user 2 would be out of reach",)
    again = due_engine(words, REQUEST)
    planned(again, monkeypatch, no_handle)
    assert again.problems == ()
    assert words in again.projection.digest


def test_a_handle_is_what_reads_like_one() -> None:
    assert visible_pages("@h12, (@h3) @h @hx h7") == {12, 3}
