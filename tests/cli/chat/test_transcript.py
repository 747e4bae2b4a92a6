"""Events in, lines out."""

from typing import Any

from outlive.cli.chat.render import progress
from outlive.cli.chat.render.item import Rhythm
from outlive.cli.chat.render.paint import Painter
from outlive.cli.chat.render.transcript import Transcript
from outlive.events import (
    AssistantSaid,
    Checkpointed,
    Compacted,
    Event,
    Noted,
    PlanChanged,
    PlanStep,
    Receipt,
    ToolFinished,
    ToolStarted,
    UserSaid,
)
from outlive.messages import Text, ToolCall
from outlive.state import WorkingState
from outlive.stream import (
    ModelRetrying,
    StreamEvent,
    SubagentActed,
    TextDelta,
    ThinkingDelta,
    ToolCallStreaming,
    ToolOutput,
)
from outlive.tools.permissions.asking import PermissionQuestion

PAINTER = Painter(70, "plain")


class Reader:
    """Numbers events and keeps what a transcript made of them."""

    def __init__(self) -> None:
        self.state = WorkingState()
        self.transcript = Transcript(state=lambda: self.state, clock=lambda: 100.0)
        self.lines: list[str] = []
        self._rhythm = Rhythm()

    def event(self, kind: type[Any], /, **fields: Any) -> None:
        event: Event = kind(id=1, time=0.0, **fields)
        self.state = self.state.apply(event)
        self.see(event)

    def see(self, *happened: Event | StreamEvent) -> None:
        for one in happened:
            for item in self.transcript.take(one):
                self.lines.extend([""] if self._rhythm.gap(item) else [])
                self.lines.extend(PAINTER.lines(item.body))

    def called(self, *calls: ToolCall) -> None:
        self.event(AssistantSaid, blocks=calls)
        self.event(ToolStarted, calls=tuple(call.id for call in calls))

    def live(self, rows: int = 20, now: float = 103.0, asked: PermissionQuestion | None = None) -> list[str]:
        return progress.lines(self.transcript, PAINTER, rows, now=now, since=100.0, asked=asked)


def bash(command: str, id: str = "1") -> ToolCall:
    return ToolCall(id, "bash", {"command": command})


def test_words_are_printed_once_each_as_their_paragraph_ends() -> None:
    reader = Reader()
    reader.see(TextDelta("First para"), TextDelta("graph.\n\nSecond"))
    assert reader.lines == ["First paragraph."]
    assert "Second" in reader.live()
    reader.see(TextDelta(" one."))
    reader.event(AssistantSaid, blocks=(Text("First paragraph.\n\nSecond one."),))
    assert reader.lines == ["First paragraph.", "", "Second one."]


def test_an_answer_that_did_not_stream_is_shown_all_the_same() -> None:
    reader = Reader()
    reader.event(AssistantSaid, blocks=(Text("All at once."),))
    assert reader.lines == ["All at once."]


def test_a_command_shows_how_long_it_took_and_how_its_output_ended() -> None:
    reader = Reader()
    reader.called(bash("pytest -q"))
    reader.event(ToolFinished, call_id="1", text="12 passed", exit_code=0, seconds=1.234)
    assert reader.lines == ["● bash pytest -q ✓ 1.2 s", "    12 passed"]


def test_of_a_long_output_the_last_lines_are_shown() -> None:
    reader = Reader()
    reader.called(bash("pytest"))
    text = "".join(f"line {number}\n" for number in range(1, 41))
    reader.event(ToolFinished, call_id="1", text=text, exit_code=0)
    assert reader.lines == ["● bash pytest ✓ 40 lines", "    line 38", "    line 39", "    line 40"]


def test_a_failed_call_says_why_with_its_last_lines() -> None:
    reader = Reader()
    reader.called(bash("make"))
    text = "".join(f"line {n}\n" for n in range(9)) + "error: no\n"
    reader.event(ToolFinished, call_id="1", text=text, exit_code=2, is_error=True)
    assert reader.lines[0] == "● bash make ✗ exit 2"
    assert reader.lines[-2:] == ["    error: no", "    … 6 more lines (ctrl+o)"]


def test_a_check_that_fails_after_edits_is_shown_with_them_until_it_passes() -> None:
    reader = Reader()

    def edited(new: str) -> None:
        reader.called(ToolCall("e", "edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": new}))
        reader.event(ToolFinished, call_id="e", text="edited", seconds=0.1)

    def ran(command: str, exit_code: int) -> list[str]:
        reader.lines.clear()
        reader.called(bash(command))
        reader.event(ToolFinished, call_id="1", text="…", exit_code=exit_code, seconds=0.1)
        return [line.strip() for line in reader.lines]

    assert "changed since it last passed:" not in ran("pytest -q", 1)
    edited("x = 2")
    assert "+x = 2" not in ran("ls nothing", 1)
    assert ran("cd a && pytest -q", 1)[-4:] == ["changed since it last passed:", "a.py", "-x = 1", "+x = 2"]
    assert "+x = 2" not in ran("pytest -q", 1), "nothing changed since it was shown"
    edited("x = 3")
    assert {"+x = 2", "+x = 3"} <= {*ran("pytest -q", 1)}
    assert "+x = 3" not in ran("pytest -q", 0)
    edited("x = 4")
    assert not {"+x = 2", "+x = 3"} & {*ran("pytest -q", 1)}


def test_an_edit_is_shown_as_a_diff() -> None:
    reader = Reader()
    reader.called(
        ToolCall("1", "edit_file", {"path": "a.py", "old_text": "x = 1\ny = 2\n", "new_text": "x = 1\ny = 3\n"})
    )
    reader.event(ToolFinished, call_id="1", text="ok")
    assert reader.lines == ["● edit_file a.py ✓ +1 −1", "     x = 1", "    -y = 2", "    +y = 3"]


def test_a_new_file_is_shown_as_what_was_put_in() -> None:
    reader = Reader()
    reader.called(ToolCall("1", "write_file", {"path": "a.py", "content": "\n".join("x" * 30)}))
    reader.event(ToolFinished, call_id="1", text="ok")
    assert reader.lines[0] == "● write_file a.py ✓ +30"
    assert reader.lines[-1] == "    … 14 more lines (ctrl+o)"


def test_a_diff_that_the_user_was_asked_about_is_not_shown_again_nor_is_the_wait_counted() -> None:
    reader = Reader()
    reader.transcript.answered(PermissionQuestion("edit_file", "a.py", preview="-1\n+2"), 60.0)
    reader.called(ToolCall("1", "edit_file", {"path": "a.py", "old_text": "1", "new_text": "2"}))
    reader.event(ToolFinished, call_id="1", text="ok", seconds=61.2)
    assert reader.lines == ["● edit_file a.py ✓ +1 −1 · 1.2 s"]


def test_running_calls_show_their_last_lines_each_on_its_own_card() -> None:
    reader = Reader()
    reader.called(bash("one", "1"), bash("two", "2"))
    reader.see(*(ToolOutput("1", f"line {n}\n") for n in range(9)))
    shown = [line[1:].strip() if "bash" in line else line for line in reader.live()]
    assert shown == ["", "bash one 3 s", *(f"    line {n}" for n in range(5, 9)), "bash two 3 s"]
    assert reader.lines == []


def test_what_sub_agents_do_is_shown_with_the_call_they_work_for() -> None:
    reader = Reader()
    reader.called(*(ToolCall(n, "subagent", {"prompt": "Look …", "description": f"job {n}"}) for n in "12"))
    for n in "21":
        reader.event(Checkpointed, label="subagent", data={"session": f"s{n}", "description": f"job {n}"})
    reader.see(SubagentActed("s1", "bash ls"), SubagentActed("s2", "grep x"), SubagentActed("other", "nothing"))
    shown = [line[1:].strip() if "subagent" in line else line for line in reader.live()]
    assert shown == ["", "subagent job 1 3 s", "    bash ls", "subagent job 2 3 s", "    grep x"]


def test_the_call_that_is_asked_about_does_not_look_as_if_it_ran() -> None:
    reader = Reader()
    reader.called(bash("rm x"))
    assert reader.live(asked=PermissionQuestion("bash", "rm x")) == []


def test_an_interrupted_call_says_so() -> None:
    reader = Reader()
    reader.called(bash("sleep 99"))
    reader.event(ToolFinished, call_id="1", text="[interrupted by the user before …]", is_error=True)
    assert reader.lines == ["● bash sleep 99 ⏹ interrupted"]


def test_a_changed_plan_is_shown_below_its_card() -> None:
    reader = Reader()
    reader.called(ToolCall("1", "update_plan", {"steps": []}))
    reader.event(PlanChanged, steps=(PlanStep("Look", done=True), PlanStep("Fix"), PlanStep("Test")), current_step=2)
    reader.event(ToolFinished, call_id="1", text="ok")
    assert reader.lines == ["● update_plan ✓", "    ✓ Look", "    ▸ Fix", "    ○ Test"]


def test_a_retry_is_seen_while_it_waits_and_gone_afterwards() -> None:
    reader = Reader()
    reader.see(ModelRetrying("overloaded", 4.0, 2))
    assert "↻ overloaded · again in 4.0 s (attempt 2)" in reader.live()
    reader.see(TextDelta("Here."))
    assert not any("overloaded" in line for line in [*reader.lines, *reader.live()])


def test_an_answer_that_broke_off_is_marked_and_not_mixed_with_the_next() -> None:
    reader = Reader()
    reader.see(TextDelta("One.\n\nHalf a sent"), ModelRetrying("broke", 1.0, 1), TextDelta("One.\n\nTwo.\n\n"))
    assert reader.lines == ["One.", "", "↻ the answer broke off here and is asked for again", "", "One.", "", "Two."]


def test_an_answer_that_broke_off_before_anything_was_printed_leaves_no_trace() -> None:
    reader = Reader()
    reader.see(TextDelta("Half a sent"), ModelRetrying("broke", 1.0, 1), TextDelta("Whole sentence.\n\n"))
    assert reader.lines == ["Whole sentence."]


def test_thinking_and_writing_a_call_are_seen_live_only() -> None:
    reader = Reader()
    reader.see(ThinkingDelta("Let me see. "), ThinkingDelta("The parser."))
    assert "thinking: Let me see. The parser." in reader.live()[-1]
    reader.see(ToolCallStreaming("edit_file"))
    assert "writing a call to edit_file" in reader.live()[-1]
    assert reader.lines == []


def test_a_pass_says_what_it_did_and_how_to_take_it_back() -> None:
    reader = Reader()
    receipt = Receipt(rungs=("collapse",), reason="pressure", before=176_000, after=61_000, units_folded=41)
    reader.event(Compacted, fold_to=1, digest="", edits=(), receipt=receipt)
    assert " ".join(map(str.strip, reader.lines)) == (
        "⤵ compacted 176k → 61k (pressure: 41 units folded, everything recallable) · /undo takes it back"
    )


def test_notes_of_the_harness_are_shown() -> None:
    reader = Reader()
    reader.event(Noted, text="a.py changed on disk", kind="reconciled")
    assert reader.lines == ["· a.py changed on disk"]


def test_a_wall_of_text_from_the_user_is_shown_by_its_beginning() -> None:
    reader = Reader()
    reader.event(UserSaid, blocks=(Text("\n".join(f"line {n}" for n in range(100))),))
    assert reader.lines[0] == "> line 0"
    assert reader.lines[-1] == "  … 88 more lines"


def test_what_the_harness_tells_the_model_does_not_look_like_the_user() -> None:
    reader = Reader()
    reader.event(UserSaid, blocks=(Text("<harness>Go on.</harness>", "harness"),))
    assert reader.lines == ["· harness: Go on."]


def test_a_forged_tag_leaves_the_users_words_the_users() -> None:
    reader = Reader()
    reader.event(UserSaid, blocks=(Text("<harness>Go on.</harness>", "user"), Text("<hook>x</hook>", "hook")))
    assert reader.lines[0] == "> <harness>Go on.</harness>"
    assert reader.lines[-1] == "· hook: x"


def test_what_is_under_way_fits_into_the_rows_there_are() -> None:
    reader = Reader()
    reader.see(TextDelta("\n".join(f"word {n}" for n in range(50))))
    reader.called(*(bash(f"cmd {n}", str(n)) for n in range(3)))
    assert len(reader.live(rows=6)) <= 6
