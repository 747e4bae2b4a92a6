"""Working state: rebuilt from events alone, with the traps that lose work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive import events as ev
from outlive.messages import Text, ToolCall
from outlive.state import StateError, WorkingState, rebuild


def at(make: type[ev.Base], **fields: object) -> ev.Event:
    return make(id=1, time=0.0, **fields)  # type: ignore[return-value, arg-type]


PLAN = at(ev.PlanChanged, steps=(ev.Step("read"), ev.Step("write"), ev.Step("test")), current_step=1)


def test_replacing_the_plan_keeps_what_was_done() -> None:
    state = rebuild(
        [PLAN, at(ev.PlanChanged, done=(1,)), at(ev.PlanChanged, steps=(ev.Step(" Read "), ev.Step("ship")))]
    )
    assert [(step.text, step.done) for step in state.plan] == [(" Read ", True), ("ship", False)]


def test_an_update_changes_only_what_it_names() -> None:
    state = rebuild(
        [
            PLAN,
            at(ev.PlanChanged, progress="half"),
            at(ev.PlanChanged, blocked_on="CI"),
            at(ev.PlanChanged, done=(2,)),
        ]
    )
    assert (state.progress, state.blocked_on, state.current_step) == ("half", "CI", 1)
    assert [step.done for step in state.plan] == [False, True, False]


@pytest.mark.parametrize(
    "change", [{"current_step": 4}, {"current_step": -1}, {"done": (9,)}, {"steps": (ev.Step(" "),)}]
)
def test_a_plan_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(StateError):
        rebuild([PLAN]).check(at(ev.PlanChanged, **change))


def test_a_bad_step_in_the_log_does_not_stop_the_session() -> None:
    assert rebuild([PLAN, at(ev.PlanChanged, current_step=99)]).current_step == 0


def test_the_goal_is_set_once() -> None:
    state = rebuild([at(ev.GoalSet, goal="a", criteria=("x",)), at(ev.GoalSet, goal="b")])
    assert (state.goal, state.criteria) == ("a", ("x",))
    with pytest.raises(StateError, match="once"):
        state.check(at(ev.GoalSet, goal="b"))


def test_renewal_clears_goal_and_scratchpad_but_not_what_the_user_ordered() -> None:
    log = [at(ev.GoalSet, goal="a"), at(ev.StateChanged, scratchpad="s"), at(ev.DirectiveGiven, text="never x"), PLAN]
    state = rebuild([*log, at(ev.ModeChanged, mode="plan"), at(ev.Renewed, handoff="h")])
    assert (state.goal, state.scratchpad, state.mode) == ("", "", "plan")
    assert [d.text for d in state.directives] == ["never x"]


def test_reissuing_a_directive_moves_it_to_the_end() -> None:
    state = rebuild(at(ev.DirectiveGiven, text=text) for text in ("a", "b", " a ", "  ", "b", "a"))
    assert [d.text for d in state.directives] == ["b", "a"]


def test_pinned_directives_never_drop_and_what_drops_is_kept_on_record() -> None:
    events = [at(ev.DirectiveGiven, text="pin", pinned=True)] + [
        at(ev.DirectiveGiven, text=f"d{n}") for n in range(12)
    ]
    state = rebuild([*events, at(ev.DirectiveGiven, text="pin")])
    assert [d.text for d in state.directives] == [*(f"d{n}" for n in range(4, 12)), "pin"]
    assert state.directives[-1].pinned
    assert [d.text for d in state.dropped_directives] == ["d0", "d1", "d2", "d3"]


def test_recent_actions_come_from_real_calls_and_are_bounded() -> None:
    said = [
        at(ev.AssistantSaid, blocks=(Text("x"), ToolCall("c", "read", {"path": f"f{n}.py"}), ToolCall("d", "ls", {})))
        for n in range(9)
    ]
    state = rebuild([*said, at(ev.AssistantSaid, blocks=(Text("only words"),))])
    assert state.recent_actions == tuple(f"read f{n}.py (+1 more)" for n in range(3, 9))


def test_authority_is_not_widened_by_anything_but_a_mode_event() -> None:
    state = rebuild(
        [at(ev.ModeChanged, mode="plan"), at(ev.Noted, text="mode: bypass"), at(ev.Renewed, handoff="bypass")]
    )
    assert state.mode == "plan"


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=6)), max_size=40))
def test_directives_are_unique_bounded_and_never_lose_a_pin(given_: list[tuple[bool, str]]) -> None:
    state = rebuild(at(ev.DirectiveGiven, text=text, pinned=pinned) for pinned, text in given_)
    texts = [d.text for d in state.directives]
    assert len(set(texts)) == len(texts)
    assert sum(not d.pinned for d in state.directives) <= 8
    assert {t.strip() for pinned, t in given_ if pinned and t.strip()} <= set(texts)


def test_an_empty_state_is_a_value() -> None:
    assert rebuild([]) == WorkingState()
