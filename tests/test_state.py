"""Working state: rebuilt from events alone, with the traps that lose work."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive import events as ev
from outlive.context.state_block import plan_text
from outlive.messages import Text, ToolCall
from outlive.state import StateError, WorkingState, made_way
from tests.working_state import state_of


def at(make: type[ev.Base], **fields: object) -> ev.Event:
    return make(id=1, time=0.0, **fields)  # type: ignore[return-value, arg-type]


PLAN = at(ev.PlanChanged, steps=(ev.PlanStep("read"), ev.PlanStep("write"), ev.PlanStep("test")), current_step=1)


def test_replacing_the_plan_keeps_what_was_done() -> None:
    state = state_of(
        [PLAN, at(ev.PlanChanged, done=(1,)), at(ev.PlanChanged, steps=(ev.PlanStep(" Read "), ev.PlanStep("ship")))]
    )
    assert [(step.text, step.done) for step in state.plan] == [(" Read ", True), ("ship", False)]


def test_an_update_changes_only_what_it_names() -> None:
    state = state_of(
        [
            PLAN,
            at(ev.PlanChanged, progress="half"),
            at(ev.PlanChanged, blocked_on="CI"),
            at(ev.PlanChanged, done=(2,)),
        ]
    )
    assert (state.progress, state.blocked_on, state.current_step) == ("half", "CI", 1)
    assert [step.done for step in state.plan] == [False, True, False]


def plan_of(*steps: str, done: tuple[int, ...] = (), current: int | None = None) -> ev.Event:
    return at(ev.PlanChanged, steps=tuple(map(ev.PlanStep, steps)), done=done, current_step=current)


def test_the_current_step_stays_the_same_step_when_others_come_before_it() -> None:
    state = state_of([plan_of("read", "write", "test", current=2), plan_of("ask", "read", "look", "WRITE", "test")])
    assert state.plan[state.current_step - 1].text == "WRITE"
    assert state_of([plan_of("read", "write", current=2), plan_of("read", "ship")]).current_step == 0
    assert state_of([plan_of("read", "write", current=2), plan_of("write", "ship", current=2)]).current_step == 2


def test_what_was_done_does_not_vanish_with_the_plan_that_had_it() -> None:
    state = state_of([plan_of("read", "write", "test", done=(1, 2)), plan_of("test", "ship")])
    assert state.finished == ("read", "write")
    assert [step.text for step in state.plan] == ["test", "ship"]
    again = state.apply(plan_of("read", "ship", done=(1,))).apply(plan_of())
    assert again.finished == ("write", "read")
    assert again.plan == ()
    assert not state.apply(plan_of("read")).plan[0].done  # used words must not hide open work


def test_plans_replaced_for_ever_stay_bounded() -> None:
    state = state_of([plan_of(f"step {n}", "last", done=(1,)) for n in range(100)])
    assert state.finished == tuple(f"step {n}" for n in range(89, 99))
    assert state.finished_before == 89
    assert "step 98 (and 89 before)" in plan_text(state)
    assert len(plan_text(state_of([plan_of("x" * 5000, done=(1,)), plan_of("y")]))) < 200


def test_steps_with_the_same_words_are_told_apart() -> None:
    state = state_of([plan_of("run tests", "fix", "run tests", done=(1,), current=3)])
    both = state.apply(plan_of("run tests", "fix", "look", "run tests"))
    assert [step.done for step in both.plan] == [True, False, False, False]
    assert both.current_step == 4
    one = state.apply(plan_of("fix", "run tests"))
    assert [step.done for step in one.plan] == [False, False]
    assert (one.current_step, one.finished) == (2, ("run tests",))


def test_a_step_can_be_opened_again() -> None:
    state = state_of([PLAN, at(ev.PlanChanged, done=(1, 2)), at(ev.PlanChanged, not_done=(2,))])
    assert [step.done for step in state.plan] == [True, False, False]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"current_step": 4}, "current_step 4 is out of range: the plan has steps 1 to 3"),
        ({"current_step": -1}, "current_step -1 is out of range: the plan has steps 1 to 3"),
        ({"done": (9,)}, "step 9 is out of range: the plan has steps 1 to 3"),
        ({"done": (0,)}, "step 0 is out of range: the plan has steps 1 to 3"),
        ({"not_done": (4,)}, "step 4 is out of range: the plan has steps 1 to 3"),
        ({"done": (1,), "not_done": (1,)}, "step 1 cannot be done and not done"),
        ({"steps": (), "done": (1,)}, "step 1 is out of range: the plan has no steps"),
        ({"steps": (ev.PlanStep("a"),), "current_step": 2}, "the plan has steps 1 to 1"),
        ({"steps": (ev.PlanStep(" "),)}, "blank"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(StateError, match=re.escape(said)):
        state_of([PLAN]).check(at(ev.PlanChanged, **change))


_steps = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=5)


@given(st.lists(st.tuples(_steps, st.sets(st.integers(1, 5)), st.integers(0, 5)), max_size=12))
def test_whatever_the_plans_finished_steps_and_the_current_one_are_seen(
    plans: list[tuple[list[str], set[int], int]],
) -> None:
    state, ever = WorkingState(), set[str]()
    for texts, done, current in plans:
        before = state.plan[state.current_step - 1] if state.current_step else ev.PlanStep("")
        state = state.apply(plan_of(*texts, done=tuple(n for n in done if n <= len(texts))))
        ever |= {step.text for step in state.plan if step.done}
        assert ever <= {step.text for step in state.plan} | set(state.finished)
        if state.current_step:
            assert state.plan[state.current_step - 1].text == before.text
        else:
            assert before.done or before.text not in texts
        state = state.apply(at(ev.PlanChanged, current_step=min(current, len(texts))))


def test_a_bad_step_in_the_log_does_not_stop_the_session() -> None:
    assert state_of([PLAN, at(ev.PlanChanged, current_step=99)]).current_step == 0


def test_the_goal_is_set_once() -> None:
    state = state_of([at(ev.GoalSet, goal="a", criteria=("x",)), at(ev.GoalSet, goal="b")])
    assert (state.goal, state.criteria) == ("a", ("x",))
    with pytest.raises(StateError, match="once"):
        state.check(at(ev.GoalSet, goal="b"))
    same = at(ev.GoalSet, goal="a", criteria=("y",))
    state.check(same)
    assert state.apply(same).criteria == ("y",)


def test_a_directive_that_fell_out_and_was_given_again_has_not_made_way() -> None:
    before = state_of(at(ev.DirectiveGiven, text=f"d{n}") for n in range(8))
    after = before
    for text in ("e0", "e1", "d0"):
        after = after.apply(at(ev.DirectiveGiven, text=text))
    assert [d.text for d in made_way(before, after)] == ["d1", "d2"]


def test_renewal_clears_goal_and_scratchpad_but_not_what_the_user_ordered() -> None:
    log = [
        at(ev.GoalSet, goal="a"),
        at(ev.StateChanged, scratchpad="s", preserved_refs=("@h1",)),
        at(ev.DirectiveGiven, text="never x"),
        PLAN,
    ]
    state = state_of([*log, at(ev.ModeChanged, mode="plan"), at(ev.Renewed, handoff="h")])
    assert (state.goal, state.scratchpad, state.preserved_refs, state.mode) == ("", "", ("@h1",), "plan")
    assert [d.text for d in state.directives] == ["never x"]


def test_reissuing_a_directive_moves_it_to_the_end() -> None:
    state = state_of(at(ev.DirectiveGiven, text=text) for text in ("a", "b", " a ", "  ", "b", "a"))
    assert [d.text for d in state.directives] == ["b", "a"]


def test_pinned_directives_never_drop_and_what_drops_is_kept_on_record() -> None:
    events = [at(ev.DirectiveGiven, text="pin", pinned=True)] + [
        at(ev.DirectiveGiven, text=f"d{n}") for n in range(12)
    ]
    state = state_of([*events, at(ev.DirectiveGiven, text="pin")])
    assert [d.text for d in state.directives] == [*(f"d{n}" for n in range(4, 12)), "pin"]
    assert state.directives[-1].pinned
    assert [d.text for d in state.dropped_directives] == ["d0", "d1", "d2", "d3"]


def test_recent_actions_come_from_real_calls_and_are_bounded() -> None:
    said = [
        at(ev.AssistantSaid, blocks=(Text("x"), ToolCall("c", "read", {"path": f"f{n}.py"}), ToolCall("d", "ls", {})))
        for n in range(9)
    ]
    state = state_of([*said, at(ev.AssistantSaid, blocks=(Text("only words"),))])
    assert state.recent_actions == tuple(f"read f{n}.py (+1 more)" for n in range(3, 9))


def test_authority_is_not_widened_by_anything_but_a_mode_event() -> None:
    state = state_of(
        [at(ev.ModeChanged, mode="plan"), at(ev.Noted, text="mode: bypass"), at(ev.Renewed, handoff="bypass")]
    )
    assert state.mode == "plan"


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=6)), max_size=40))
def test_directives_are_unique_bounded_and_never_lose_a_pin(given_: list[tuple[bool, str]]) -> None:
    state = state_of(at(ev.DirectiveGiven, text=text, pinned=pinned) for pinned, text in given_)
    texts = [d.text for d in state.directives]
    assert len(set(texts)) == len(texts)
    assert sum(not d.pinned for d in state.directives) <= 8
    assert {t.strip() for pinned, t in given_ if pinned and t.strip()} <= set(texts)


def test_an_empty_state_is_a_value() -> None:
    assert state_of([]) == WorkingState()
