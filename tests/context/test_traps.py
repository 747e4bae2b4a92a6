"""Each way in which earlier designs lost work, as a claim that it cannot happen here."""

import msgspec
import pytest

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.errors import FloorError, InvalidRequest, UnknownHandle
from outlive.context.ledger import Ledger
from outlive.context.log.pages import Pages
from outlive.context.log.pieces import make_piece
from outlive.context.passes.lines.names import names
from outlive.context.policy import Policy
from outlive.context.state_block import render_state
from outlive.context.summary import ask as ask_for_summary
from outlive.context.summary import checked
from outlive.context.tokens import Meter, estimate
from outlive.instructions import standing
from outlive.messages import Message, Text, ToolCall, ToolResult
from outlive.models.too_long import TooLong, read_too_long
from tests.context.story import Story, body, drive, long_story
from tests.context.wire import anthropic, shown
from tests.working_state import state_of

EAGER = Policy(name="eager", tail_tokens=600, tail=0.1)


def test_ten_rounds_keep_directives_tasks_and_modified_files() -> None:
    engine = Engine(12_000, EAGER)
    story = Story()
    story.user("Build the exporter. Never push to main. Always run the linter.")
    for text in standing("Build the exporter. Never push to main. Always run the linter."):
        story.add(ev.DirectiveGiven, text=text, source=1)
    story.add(ev.TasksSeen, tasks=(ev.OpenTask(41, "export rows", "in_progress"), ev.OpenTask(42, "document it")))
    drive(engine, story)
    for round_ in range(10):
        more = Story(clock=10_000.0 * (round_ + 1))
        more.step("ok", tool="write_file", said=f"round {round_}")
        for number in range(8):
            more.step(body(round_ * 100 + number, 40))
        renumber(more, f"r{round_}_")
        drive(engine, more)
        engine.compact()
    request = engine.next_request()
    text = shown(request.messages)
    assert sum(isinstance(event, ev.Compacted) for event in engine.events) >= 10
    assert {"Never push to main.", "Always run the linter."} <= {d.text for d in engine.history.state.directives}
    assert all(d.text in request.state_block for d in engine.history.state.directives)
    assert "#41 export rows [in_progress]" in request.state_block
    assert "#42 document it" in request.state_block
    assert len(engine.history.ledger.written) >= 1
    assert all(path in text for path in engine.history.ledger.written)


def renumber(story: Story, prefix: str) -> None:
    """Call ids that are unique over several stories."""
    for number, event in enumerate(story.events):
        if isinstance(event, ev.AssistantSaid):
            blocks = tuple(
                ToolCall(prefix + b.id, b.name, {"path": prefix + b.input["path"]}) if isinstance(b, ToolCall) else b
                for b in event.blocks
            )
            story.events[number] = msgspec.structs.replace(event, blocks=blocks)
        elif isinstance(event, ev.ToolFinished):
            story.events[number] = msgspec.structs.replace(event, call_id=prefix + event.call_id)


def test_passes_are_rare_not_one_on_every_turn() -> None:
    """A little masking on every turn loses the cache every time."""
    made = drive(Engine(20_000, EAGER), long_story(80))
    assert 1 <= len(made) <= 80 / 4
    assert all(event.receipt.after < event.receipt.before for event in made)


def test_a_shrunken_result_is_not_shrunk_again_without_a_pass() -> None:
    engine = Engine(20_000, EAGER)
    drive(engine, long_story(40))
    first = engine.next_request()
    assert engine.next_request().messages == first.messages


def test_one_result_larger_than_the_window_is_previewed_not_lost() -> None:
    engine = Engine(8_000, EAGER)
    story = long_story(1, 10)
    story.step(body(7, 900))
    engine.extend(story.events)
    request = engine.next_request()
    assert request.tokens <= 8_000
    newest = request.messages[-1].blocks[0]
    assert isinstance(newest, ToolResult)
    assert "value_7000" in newest.text
    assert "value_7899" in newest.text
    piece = engine.history.units[-1].pieces[-1]
    assert "".join(engine.recall(page).text for page in piece.pages) == piece.text
    assert engine.next_request().passes == ()  # no livelock


def test_a_result_the_model_has_not_seen_is_never_touched() -> None:
    engine = Engine(20_000, EAGER)
    story = long_story(30)
    engine.extend(story.events)
    request = engine.next_request()
    assert request.passes
    last = request.messages[-1].blocks[0]
    assert isinstance(last, ToolResult)
    assert last.text == body(29, 60)


def test_nothing_is_compacted_in_the_middle_of_a_batch() -> None:
    engine = Engine(9_000, EAGER)
    story = long_story(20)
    story.add(ev.AssistantSaid, blocks=(ToolCall("a", "read", {}), ToolCall("b", "read", {})))
    story.add(ev.ToolFinished, call_id="a", text="one")
    engine.extend(story.events)
    assert engine.compact() is None


def test_sibling_results_survive_a_manual_pass() -> None:
    engine = Engine(30_000, EAGER)
    story = long_story(12)
    story.step("first sibling", "second sibling", "third sibling")
    engine.extend(story.events)
    engine.compact()
    text = shown(engine.next_request().messages)
    assert all(f"{which} sibling" in text for which in ("first", "second", "third"))


def test_the_latest_work_is_what_stays_whole() -> None:
    engine = Engine(20_000, EAGER)
    engine.extend(long_story(30).events)
    engine.compact()
    text = shown(engine.next_request().messages)
    assert body(29, 60) in text
    assert body(0, 60) not in text


def test_a_large_result_does_not_make_the_tail_much_larger() -> None:
    engine = Engine(100_000, Policy(name="x", tail_tokens=2_000, tail=0.02))
    story = long_story(6)
    story.step(body(500, 200))
    for number in range(3):
        story.step(body(600 + number, 10))
    engine.extend(story.events)
    engine.compact()
    text = shown(engine.next_request().messages)
    assert body(600, 10) in text
    assert body(500, 200) not in text


def test_the_tail_is_not_repeated_in_the_digest() -> None:
    engine = Engine(20_000, EAGER)
    engine.extend(long_story(30).events)
    engine.compact()
    assert "value_29000" not in engine.projection.digest


def test_the_focus_of_a_manual_pass_matters() -> None:
    def digest(focus: str) -> str:
        engine = Engine(20_000, Policy(name="x", tail_tokens=600, tail=0.1, lines=0.06))
        engine.extend(long_story(30).events)
        event = engine.compact(focus)
        assert event is not None
        assert event.focus == focus
        return event.digest

    assert digest("mod_3001").count("_30") > digest("").count("_30")


def test_an_unanswered_call_gets_an_answer() -> None:
    engine = Engine(20_000)
    story = Story()
    story.user("go")
    story.add(ev.AssistantSaid, blocks=(ToolCall("cut", "write", {}),), stop_reason="max_tokens")
    story.user("what happened?")
    engine.extend(story.events)
    messages = engine.next_request().messages
    anthropic(messages)
    assert [block.call_id for block in messages[2].blocks if isinstance(block, ToolResult)] == ["cut"]


def test_a_result_for_the_last_call_that_was_folded_away_is_told() -> None:
    story = long_story(20)
    asked = story.add(ev.AssistantSaid, blocks=(ToolCall("slow", "bash", {"command": "make"}),))
    story.user("Leave that, and look at the tests.")
    engine, other = Engine(60_000), Engine(60_000)
    engine.extend(story.events)
    other.extend(story.events)
    made = other.compact()
    assert made is not None
    engine.append(msgspec.structs.replace(made, fold_to=asked.id))
    engine.append(ev.ToolFinished(id=made.id + 1, time=story.clock, call_id="slow", text="built"))
    assert "a result came late: bash" in shown(engine.next_request().messages)


def test_the_first_block_need_not_be_text() -> None:
    engine = Engine(20_000)
    engine.append(ev.UserSaid(id=1, time=0, blocks=(ToolResult("x", "not words"), Text("words"))))
    assert engine.history.units[0].pieces[0].text == "words"


def test_system_and_tools_count() -> None:
    small, large = Engine(20_000), Engine(20_000)
    for engine, system in ((small, ""), (large, "s" * 32_000)):
        engine.append(ev.SessionStarted(id=1, time=0, session="s", system=system, tools=({"name": "t" * 3200},)))
        engine.append(ev.UserSaid(id=2, time=0, blocks=(Text("hi"),)))
    assert small.next_request().tokens > 900
    assert large.next_request().tokens > 10_900


def test_cjk_is_counted_by_the_character_not_by_its_escapes() -> None:
    assert 0.8 <= estimate("漢字" * 100) / 200 <= 1.5
    assert estimate("abcd" * 100) == pytest.approx(125)


def test_the_meter_follows_reports_but_not_one_wild_one() -> None:
    meter = Meter().reported(1000, 1300)
    assert meter.tokens(1000) == 1300
    assert meter.reported(1000, 100_000).ratio < 2.5
    assert meter.reported(0, 5) == meter


def test_the_window_is_met_in_the_provider_s_own_count() -> None:
    engine = Engine(20_000, EAGER)
    story = long_story(6)
    engine.extend(story.events[:-2])
    engine.next_request()
    engine.append(story.events[-2])
    twice = round(engine._asked_tokens[1] * 2)
    of, cached = story.events[-2].id, 3_000
    engine.append(
        ev.UsageReported(id=99, time=0, of=of, input=twice - cached, cache_write=1_000, cache_read=cached - 1_000)
    )
    assert engine.meter.ratio == pytest.approx(2.0, rel=0.01)
    assert engine.budget.window == pytest.approx(10_000, rel=0.01)


@pytest.mark.parametrize(
    ("message", "status", "want"),
    [
        ("prompt is too long: 212,345 tokens > 200000 maximum", 400, TooLong(212_345, 200_000)),
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens",
            400,
            TooLong(130_001, 128_000),
        ),
        ("context_length_exceeded", 400, TooLong()),
        (
            "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
            400,
            TooLong(1_100_000, 1_048_576),
        ),
        ("Input is too long for requested model.", 400, TooLong()),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            400,
            TooLong(537_812, 131_072),
        ),
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            400,
            TooLong(40_000, 32_768),
        ),
        ("prompt is too long: 5 tokens > 4 maximum", 500, None),
        ("max_tokens is too large: 9000", 400, None),
        ("the file name is too long", 400, None),
        ("rate limit: too many tokens", 400, None),
    ],
)
def test_only_the_right_error_counts_as_too_long(message: str, status: int, want: TooLong | None) -> None:
    assert read_too_long(message, status) == want


def test_a_refused_prompt_goes_to_the_floor_and_gives_up_with_a_breakdown() -> None:
    engine = Engine(40_000, EAGER)
    engine.extend(long_story(10).events)
    engine.next_request()
    engine.too_long(50_000, 40_000)
    with pytest.raises(FloorError) as error:
        refuse(engine, 3)
    assert {"system", "tools", "state", "current request", "newest unit"} <= error.value.breakdown.keys()
    assert "newest unit" in str(error.value)


def test_a_provider_with_a_smaller_limit_than_it_said_is_named_as_the_cause() -> None:
    engine = Engine(200_000)
    engine.extend(long_story(3).events)
    with pytest.raises(FloorError, match=r"the provider still refuses .* of 200,000 tokens: .*set a smaller window"):
        refuse(engine, 4, 0, 0)


def test_a_look_at_a_file_that_was_changed_later_is_marked() -> None:
    story = Story()
    story.user("Go.")
    story.add(ev.AssistantSaid, blocks=(ToolCall("r", "read_file", {"path": "src/app.py"}),))
    story.add(ev.ToolFinished, call_id="r", text="1\tRETRY_LIMIT = 3\n2\tother_name = 1")
    story.add(ev.AssistantSaid, blocks=(ToolCall("w", "write_file", {"path": "src/app.py", "content": "pass"}),))
    story.add(ev.ToolFinished, call_id="w", text="written")
    for _ in range(20):
        story.step("nothing of note here\n" * 200)
    engine = Engine(50_000)
    engine.extend(story.events)
    assert engine.compact()
    rows = engine.projection.digest.splitlines()
    (at,) = (number for number, row in enumerate(rows) if "RETRY_LIMIT = 3" in row)
    assert any("(changed since)" in row for row in rows[max(0, at - 3) : at])


def refuse(engine: Engine, times: int, actual: int = 50_000, limit: int = 40_000) -> None:
    for _ in range(times):
        engine.too_long(actual, limit)


def test_a_floor_that_does_not_fit_is_said_at_once_and_never_loops() -> None:
    engine = Engine(2_000)
    engine.append(ev.SessionStarted(id=1, time=0, session="s", system="x" * 32_000))
    engine.append(ev.UserSaid(id=2, time=0, blocks=(Text("hi"),)))
    for _ in range(3):
        with pytest.raises(FloorError, match="system 10,000"):
            engine.next_request()


def test_a_request_that_fits_to_the_token_needs_no_pass() -> None:
    engine, story = Engine(20_100, Policy(name="exact", hard=1.0)), Story()
    story.add(ev.SessionStarted, session="s", system="x" * 32_000)
    story.user("y" * 32_000)
    story.says("z" * 16)
    story.user("w" * 16)
    engine.extend(story.events)
    engine.window = engine.used
    assert engine.window == engine.full()
    assert engine.due() == ""
    assert engine.next_request().passes == ()
    engine.window -= 1
    assert engine.due() == "limit"


def test_what_was_just_said_counts_and_shows_without_a_request() -> None:
    engine = Engine(60_000)
    engine.append(ev.SessionStarted(id=1, time=0, session="s", system="x" * 3_200))
    engine.append(ev.UserSaid(id=2, time=0, blocks=(Text("Fix it."),)))
    assert "Fix it." in shown(engine.live_request().messages)
    engine.append(ev.UserSaid(id=3, time=0, blocks=(Text("Now."),)))
    assert "Now." in shown(engine.shown())
    kinds = engine.kinds()
    assert kinds["system"] == 1_000
    assert "tools" not in kinds


def test_every_new_message_is_checked() -> None:
    engine = Engine(60_000)
    engine.append(ev.UserSaid(id=1, time=0, blocks=(Text("Fix it."),)))
    engine.next_request()
    engine.messages += [Message("assistant", (Text("a"),)), Message("assistant", (Text("b"),))]
    with pytest.raises(InvalidRequest, match="two assistant messages in a row"):
        engine.next_request()


def test_a_cold_cache_is_used_for_an_early_pass() -> None:
    engine, story = Engine(60_000, EAGER), long_story(24)
    engine.extend(story.events)
    assert engine.next_request().passes == ()
    late = engine.next_request(now=story.clock + 3600)
    assert [event.receipt.reason for event in late.passes] == ["cold"]
    assert late.passes[0].receipt.cache_cost == 0


def test_a_cold_cache_is_no_reason_for_another_pass_while_nothing_came() -> None:
    engine, story = Engine(60_000, msgspec.structs.replace(EAGER, cold=0.1, cold_tokens=1_000)), long_story(24)
    engine.extend(story.events)
    assert engine.next_request(now=story.clock + 3600).passes
    assert engine.full() > engine.budget.cold
    assert engine.due(now=story.clock + 7200) == ""


def test_state_blocks_in_the_view_are_counted() -> None:
    engine, story = Engine(60_000), Story()
    story.user("Read it.")
    story.add(ev.GoalSet, goal="all parts are read")
    engine.extend(story.events)
    before = engine.kinds()["state"]
    engine.next_request()
    assert engine.kinds()["state"] == before > 0


def test_directives_show_while_goal_and_plan_are_empty() -> None:
    state = state_of([ev.DirectiveGiven(id=1, time=0, text="never x")])
    assert "never x" in render_state(state, Ledger(), 100, compacted=False).text
    assert render_state(state_of([]), Ledger(), 100, compacted=True).text == ""


def test_a_state_that_does_not_fit_says_what_is_missing_and_keeps_what_must_stay() -> None:
    log: list[ev.Event] = [
        ev.GoalSet(id=1, time=0, goal="goal 漢"),
        ev.StateChanged(id=2, time=0, scratchpad="pad " * 500),
        ev.PlanChanged(
            id=3,
            time=0,
            steps=(ev.PlanStep("one", done=True), ev.PlanStep("two"), ev.PlanStep("three")),
            current_step=2,
        ),
    ]
    block = render_state(state_of(log), Ledger(), 60, compacted=True).text
    assert "left out for room: scratchpad" in block
    assert (
        block.index("goal 漢")
        < block.index("[done] 1. one")
        < block.index("[active] 2. two")
        < block.index("[todo] 3.")
    )


def test_a_long_list_of_tasks_names_every_id() -> None:
    tasks = tuple(ev.OpenTask(n, f"subject {n}", "in_progress" if n == 70 else "pending") for n in range(1, 81))
    block = render_state(state_of([ev.TasksSeen(id=1, time=0, tasks=tasks)]), Ledger(), 50, compacted=False).text
    assert all(f"#{n}" in block for n in range(1, 81))
    assert "subject 70" in block


def test_a_pass_that_was_taken_back_does_not_return_at_once() -> None:
    engine = Engine(40_000, EAGER)
    engine.extend(long_story(14).events)
    made = engine.compact()
    assert made is not None
    engine.append(ev.Undone(id=made.id + 1, time=made.time, target=made.id))
    assert engine.next_request().passes == ()


def test_a_false_too_long_costs_a_usual_pass_and_only_the_next_one_the_floor() -> None:
    engine = Engine(40_000)
    engine.extend(long_story(20).events)
    usual, floor = engine.too_long(), engine.too_long()
    assert ("reactive" in usual.receipt.rungs, "reactive" in floor.receipt.rungs) == (False, True)
    assert usual.receipt.before > usual.receipt.after > floor.receipt.after
    with pytest.raises(FloorError):
        engine.too_long()


def test_after_an_undone_pass_the_first_refusal_costs_a_usual_pass() -> None:
    engine, story = Engine(60_000), long_story(24)
    engine.extend(story.events)
    made = engine.compact()
    assert made is not None
    engine.append(ev.Undone(id=made.id + 1, time=story.clock, target=made.id, what="pass"))
    assert "reactive" not in engine.too_long().receipt.rungs


def test_pages_never_split_a_character_and_put_together_are_exact() -> None:
    pages = Pages()
    piece = make_piece(1, 0, "result", "漢字🎈é\n" * 4000)
    pages.add(piece)
    texts = [pages.get(f"@h{n}").text for n in piece.pages]
    assert "".join(texts) == piece.text
    assert all(estimate(text) <= 3000 for text in texts)
    with pytest.raises(UnknownHandle, match="@h1 to"):
        pages.get("@h999")


def test_a_digest_says_that_it_is_reference_and_which_events_it_stands_for() -> None:
    engine = Engine(20_000, EAGER)
    engine.extend(long_story(30).events)
    engine.compact()
    head = engine.projection.segments[-1].text.partition("\n")[0]
    assert "log events" in head
    assert "no new instructions" in head
    assert "recall" in head


def test_a_summary_with_invented_words_or_approvals_is_not_used() -> None:
    said = ["Please never push to main."]

    def problem(text: str) -> str:
        return checked(text, said, limit=4000).problem

    assert problem("Asked: fix\n> never push to main.") == ""
    assert "empty" in problem("")
    assert "record" in problem("> push right away")
    assert "record" in problem("The user approved the release.")
    assert "larger" in problem("word " * 6000)
    assert "parser" in ask_for_summary("parser")


def test_a_model_s_summary_is_carried_into_the_next_pass() -> None:
    engine = Engine(20_000, EAGER)
    engine.extend(long_story(30).events)
    made = engine.compact(summary="Decided: keep the old parser.")
    assert made is not None
    assert "Decided: keep the old parser." in made.digest
    assert f"[Summary of log events 2 to {made.id - 1}," in made.digest
    assert "Reference, not instructions" in made.digest


def test_what_is_to_be_preserved_stays_whole() -> None:
    engine = Engine(30_000, EAGER)
    story = long_story(25)
    calls = [
        b.id for e in story.events if isinstance(e, ev.AssistantSaid) for b in e.blocks if isinstance(b, ToolCall)
    ]
    story.add(ev.StateChanged, preserved_refs=(calls[2],))
    engine.extend(story.events)
    engine.compact()
    text = shown(engine.next_request().messages)
    assert body(2, 60) in text
    assert body(3, 60) not in text


def test_renewal_starts_fresh_and_keeps_state_and_reach() -> None:
    engine = Engine(30_000, EAGER)
    story = long_story(10)
    story.add(ev.DirectiveGiven, text="Never touch vendor/ files.")
    story.add(ev.Renewed, handoff="The parser is half done; next: tests.")
    story.user("Go on.")
    engine.extend(story.events)
    request = engine.next_request()
    text = shown(request.messages)
    assert "half done" in text
    assert "Never touch vendor/ files." in request.state_block
    assert body(3, 60) not in text
    page = next(p for u in engine.history.units for p in u.pieces if p.text == body(3, 60)).pages[0]
    assert f"@h{page}" in text


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Fix it. Never edit vendor/a.go directly! Thanks.", ("Never edit vendor/a.go directly!",)),
        ("From now on, use tabs.\nIs it always slow?", ("From now on, use tabs.",)),
        ("It never worked before. Why?", ()),
        ("Please always quote it, and never guess.", ("Please always quote it, and never guess.",)),
        ("```\nalways: true\n```\nplease look", ()),
        ("> never mind that\nthe log says 3.5. ok", ()),
        ("x" * 7000 + " always", ()),
        ("漢字: never use 改 in names. 好", ("漢字: never use 改 in names.",)),
    ],
)
def test_directives_are_quoted_word_for_word(text: str, want: tuple[str, ...]) -> None:
    found = standing(text)
    assert found == want
    assert all(sentence in text for sentence in found)


def test_names_are_what_a_later_call_must_spell() -> None:
    assert names("see src/app.py:12 and parse_row() but not the words around") == (
        "src/app.py",
        "app.py",
        "parse_row",
    )
    assert names("plain words only here") == ()


def test_the_ledger_reads_facts_off_calls() -> None:
    ledger = Ledger()
    ledger.note(
        ToolCall("1", "Bash", {"command": "pytest -q"}),
        1,
        "Exit code 1\nFAILED tests/a.py::test_x",
        is_error=True,
        exit_code=None,
    )
    ledger.note(ToolCall("2", "Edit", {"file_path": "src/a.py"}), 2, "ok", is_error=False, exit_code=None)
    ledger.note(
        ToolCall("3", "apply_patch", {"input": "*** Update File: src/b.rs\n+x"}),
        3,
        "ok",
        is_error=False,
        exit_code=None,
    )
    ledger.note(
        ToolCall("4", "Bash", {"command": "git commit -m x"}), 4, "[main 1a2b3c4] Add x", is_error=False, exit_code=0
    )
    ledger.note(
        ToolCall("6", "Bash", {"command": "serve", "run_in_background": True}),
        6,
        "running in background with ID: b7",
        is_error=False,
        exit_code=None,
    )
    ledger.note(
        ToolCall("7", "Write", {"file_path": "no.py", "content": ""}), 7, "denied", is_error=True, exit_code=None
    )
    assert list(ledger.failing) == ["tests/a.py::test_x"]
    assert ledger.commands[0].exit_code == 1
    assert list(ledger.written) == ["src/a.py", "src/b.rs"]
    assert ledger.commits == {"1a2b3c4": "Add x"}
    assert ledger.background == {"b7": "serve"}
    ledger.note(ToolCall("8", "Bash", {"command": "pytest -q"}), 8, "1 passed", is_error=False, exit_code=0)
    assert not ledger.failing


def test_a_longer_past_keeps_more_lines() -> None:
    """One number of lines for every session is too many for a short one and too few for a long one."""

    def kept(turns: int) -> int:
        made = drive(Engine(100_000), long_story(turns))
        return made[-1].receipt.lines_kept

    assert 1.5 * kept(25) < kept(40)


def test_a_pass_leaves_the_recent_results_whole() -> None:
    """Dropping them all at once makes an agent read the same files again."""
    engine = Engine(100_000)
    for event in long_story(200).events:
        if isinstance(event, ev.AssistantSaid) and engine.next_request().passes:
            results = [piece for unit in engine.history.units for piece in unit.pieces if piece.kind == "result"]
            text = shown(engine.next_request().messages)
            size = 0.0
            while size < 0.07 * 100_000:
                piece = results.pop()
                assert piece.text in text
                size += piece.tokens
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))


def test_no_pass_is_made_while_results_are_still_to_come() -> None:
    engine = Engine(100_000, Policy(name="x", engage=0.5))
    engine.extend(long_story(40).events)
    engine.append(
        ev.AssistantSaid(id=1000, time=9000.0, blocks=(ToolCall("a", "read", {}), ToolCall("b", "read", {})))
    )
    engine.append(ev.ToolFinished(id=1001, time=9001.0, call_id="a", text="one"))
    assert engine.used > 50_000
    assert engine.due() == ""
    assert engine.compact() is None
    assert not engine.next_request().passes
    engine.append(ev.ToolFinished(id=1002, time=9002.0, call_id="b", text="two"))
    assert engine.due()


def test_the_digest_names_every_changed_file() -> None:
    story = long_story(2)
    for number in range(12):
        story.add(
            ev.AssistantSaid,
            blocks=(ToolCall(f"w{number}", "write_file", {"path": f"src/new_{number}.py", "content": "pass"}),),
        )
        story.add(ev.ToolFinished, call_id=f"w{number}", text="written")
    for number in range(60):
        story.step(body(number, 60))
    engine = Engine(50_000)
    drive(engine, story)
    text = shown(engine.next_request().messages)
    assert all(f"src/new_{number}.py" in text for number in range(12))


def test_a_long_note_is_cut_between_characters() -> None:
    from outlive.context.state_block import LONGEST_NOTE, shortened

    note = "é🎈漢" * LONGEST_NOTE
    assert len(shortened(note)) == LONGEST_NOTE
    assert note.startswith(shortened(note)[:-1])


def test_after_a_pass_the_request_stands_as_the_users_and_not_as_reference() -> None:
    engine, story = Engine(30_000, EAGER), Story()
    story.user("First look around.")
    story.step(body(1, 30))
    story.user("Fix the parser.\nKeep its interface.")
    for number in range(2, 20):
        story.step(body(number, 40))
    engine.extend(story.events)
    assert engine.compact() is not None
    words, digest, request, *_ = engine.next_request().messages[0].blocks
    assert isinstance(words, Text)
    assert isinstance(digest, Text)
    assert (words.origin, digest.origin) == ("user", "")
    assert "User, event 1: First look around." in words.text
    assert "no new instructions" not in words.text
    assert "First look around." not in digest.text
    assert "Fix the parser" not in words.text + digest.text
    assert request == Text("Fix the parser.\nKeep its interface.", "user")
