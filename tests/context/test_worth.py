"""When a pass is not made: nothing new, too little to gain, refused too often. And what none of them may cut."""

import pytest

from outlive import events as ev
from outlive.context import policy
from outlive.context.engine import Engine
from outlive.context.errors import FloorError
from outlive.context.passes import ladder
from outlive.context.passes.pass_input import PassDepth, PassInput, PassPlan
from outlive.context.passes.plan import plan_pass
from outlive.context.policy import Policy
from outlive.messages import Text
from tests.context.story import Story, body, long_story
from tests.context.wire import shown

POLICY = Policy(name="small", tail_tokens=600, tail=0.1)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[PassDepth]:
    """Every plan that is made from now on."""
    plans: list[PassDepth] = []

    def plan(given: PassInput, depth: PassDepth) -> PassPlan:
        plans.append(depth)
        return plan_pass(given, depth)

    monkeypatch.setattr(ladder, "plan_pass", plan)
    return plans


def engine_with(steps: int, window: int = 20_000, lines: int = 60) -> Engine:
    engine = Engine(window, POLICY)
    engine.extend(long_story(steps, lines).events)
    return engine


# -- nothing new


def test_asking_again_with_nothing_new_does_not_even_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with(12)
    assert engine.compact() is not None
    plans = counted(monkeypatch)
    assert engine.compact() is None
    assert plans == []


@pytest.mark.parametrize("news", ["focus", "summary", "words", "undo"])
def test_anything_new_is_looked_at(monkeypatch: pytest.MonkeyPatch, news: str) -> None:
    engine = engine_with(12)
    made = engine.compact()
    assert made is not None
    if news == "words":
        engine.append(ev.UserSaid(id=made.id + 1, time=made.time, blocks=(Text("And now?"),)))
    elif news == "undo":
        engine.append(ev.Undone(id=made.id + 1, time=made.time, target=made.id))
    plans = counted(monkeypatch)
    engine.compact("the parser" if news == "focus" else "", "Decided: a." if news == "summary" else "")
    assert len(plans) == 1


# -- too little


def test_a_pass_that_frees_little_is_not_worth_a_broken_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def gained(smallest: float) -> int | None:
        monkeypatch.setattr(policy, "SMALLEST_GAIN", smallest)
        engine = engine_with(18, window=100_000, lines=30)
        made = engine.compact()
        return made.receipt.before - made.receipt.after if made else None

    would = gained(0.0)
    assert would is not None
    assert 0 < would < 2_000
    assert gained(0.02) is None
    assert gained(would * 0.9 / 100_000) == would


def test_a_pass_that_is_asked_for_may_free_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "ASKED_GAIN", 0.0)
    engine = engine_with(18, window=100_000, lines=30)
    made = engine.compact()
    assert made is not None
    assert made.receipt.before - made.receipt.after < engine.budget.gain


# -- refused too often


def refused(times: int) -> Engine:
    """Refused again and again, with a smaller limit each time, so that something could still be given up."""
    engine = engine_with(30, window=40_000)
    for number in range(times):
        engine.too_long(limit=30_000 - 8_000 * number)
    return engine


def test_after_two_refusals_nothing_more_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    refused(2)
    with pytest.raises(FloorError, match="newest unit"):
        refused(3)
    monkeypatch.setattr(policy, "ATTEMPTS", 3)
    refused(3)  # a third pass could have been made


def test_an_answer_starts_the_count_again() -> None:
    engine = refused(2)
    last = engine.history.last_id
    engine.append(ev.AssistantSaid(id=last + 1, time=9e9, blocks=(Text("I see."),)))
    story = Story()
    for number in range(12):
        story.step(body(700 + number, 40))
    for number, event in enumerate(story.events):
        fields = {name: getattr(event, name) for name in event.__struct_fields__ if name not in ("id", "parent")}
        engine.append(type(event)(id=last + 2 + number, **fields))
    assert engine.too_long().receipt.reason == "refused"


# -- what is never cut


OLDER = "Before that: " + " ".join(f"wish {n} for thing_{n}," for n in range(800))
REQUEST = "Do all of this: " + " ".join(f"point {n} of part_{n}," for n in range(800))
"""Each of them is more than the share that all words of the user have."""


def wordy(policy: Policy) -> Engine:
    """The request is older than the tail, and a pass is due."""
    engine, story, taken = Engine(30_000, policy), Story(), 0
    story.user(OLDER)
    story.step("ok")
    story.user(REQUEST)
    while not engine.due():
        story.step(body(len(story.events), 20))
        engine.extend(story.events[taken:])
        taken = len(story.events)
    return engine


@pytest.mark.parametrize("how", ["pressure", "asked", "refused"])
def test_the_current_request_stays_whole_in_the_digest(how: str) -> None:
    engine = wordy(POLICY)
    made: ev.Compacted | None
    if how == "asked":
        made = engine.compact()
    elif how == "refused":
        made = engine.too_long(limit=16_000)
    else:
        (made,) = engine.next_request().passes
    assert made is not None
    assert made.fold_to > 4
    text = shown(engine.next_request().messages)
    assert REQUEST in text
    assert OLDER not in text


def test_the_current_request_stays_whole_in_its_place() -> None:
    engine = wordy(Policy(name="in place", tail_tokens=600, tail=0.1, skeleton=0.5))
    (made,) = engine.next_request().passes
    assert made.fold_to < 5
    text = shown(engine.next_request().messages)
    assert REQUEST in text
    assert OLDER not in text
