"""One person talking with one agent: runs, words that wait, interruptions, commands. A real session, no terminal."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from outlive.agent.memory.session_memory import SessionMemory
from outlive.agent.runtime import Runtime
from outlive.cli.chat.render.item import Item
from outlive.cli.chat.render.paint import Painter
from outlive.cli.chat.slash import COMMANDS, obey
from outlive.cli.chat.talk import Talk
from outlive.cli.chat.words import short_session
from outlive.events import PlanChanged, PlanStep, StateChanged, UsageReported, UserSaid
from outlive.memory.memories import Memories
from outlive.messages import Image, ToolCall, plain_text
from outlive.models.errors import ModelUnavailable, RequestRefused
from outlive.stores.logs.reading import full_log
from outlive.testing import ScriptedModel, call, calls, say
from outlive.tools.permissions.asking import Asker, PermissionAnswer, PermissionQuestion
from tests.cli.chat.stage import Stage

LONG = 30


class Face:
    """A talk, and all that it showed."""

    def __init__(self, stage: Stage, **more: object) -> None:
        self.stage = stage
        self.lines: list[str] = []
        self.given_back: list[str] = []
        self.talk = Talk(stage.around(**more), self.ask, show=self.show, give_back=self.given_back.append)

    def show(self, item: Item) -> None:
        self.lines.extend(Painter(100, "plain").lines(item.body))

    async def ask(self, question: PermissionQuestion) -> PermissionAnswer:
        return PermissionAnswer("no")

    async def say(self, words: str) -> None:
        self.talk.say(words)
        await self.talk.wait()

    async def obey(self, line: str) -> str:
        """What a command showed."""
        before = len(self.lines)
        await obey(self.talk, line)
        await self.talk.wait()
        return "\n".join(self.lines[before:])

    async def until(self, text: str) -> None:
        """Until something is under way."""
        while not any(text in one.output for one in self.talk.transcript.running.values()):
            await asyncio.sleep(0.01)

    @property
    def heard(self) -> list[str]:
        events = full_log(self.stage.store, self.talk.agent.session.id).events
        return [plain_text(event.blocks) for event in events if isinstance(event, UserSaid)]


Play = Callable[[Callable[[Face], Awaitable[None]]], Face]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def play(stage: Stage) -> Play:
    """Run a scene on the stage, from opening to closing."""

    def run(scene: Callable[[Face], Awaitable[None]]) -> Face:
        face = Face(stage)

        async def whole() -> None:
            await face.talk.open(None)
            await scene(face)
            await face.talk.close()

        asyncio.run(whole())
        return face

    return run


def test_a_run_shows_words_and_cards(stage: Stage, play: Play) -> None:
    stage.turns = [say("Looking.") + call("bash", command="echo hi"), say("Done.")]
    face = play(lambda face: face.say("go"))
    assert face.lines[3:] == ["> go", "Looking.", "● bash echo hi ✓", "    hi", "Done."]


def test_the_header_is_three_lines(play: Play) -> None:
    async def nothing(face: Face) -> None:
        assert len(face.lines) == 3
        assert "9.9.9" in face.lines[0]
        assert "scripted:sonnet · mode ask · session " in face.lines[1]

    play(nothing)


def test_words_said_meanwhile_are_heard_at_the_next_seam(stage: Stage, play: Play) -> None:
    stage.turns = [calls(call("bash", command="echo on; sleep 0.2")), say("Both heard.")]

    async def scene(face: Face) -> None:
        face.talk.say("first")
        await face.until("on")
        face.talk.say("second")
        assert face.talk.queued == ["second"]
        await face.talk.wait()
        assert face.talk.queued == []

    face = play(scene)
    assert face.heard == ["first", "second"]
    assert face.lines[-4:] == ["● bash echo on; sleep 0.2 ✓", "    on", "> second", "Both heard."]


def test_an_interruption_is_clean_and_gives_back_what_was_not_heard(stage: Stage, play: Play) -> None:
    stage.turns = [calls(call("bash", command=f"echo on; sleep {LONG}")), say("Fine.")]

    async def scene(face: Face) -> None:
        face.talk.say("first")
        await face.until("on")
        face.talk.say("second")
        assert face.talk.stop()
        await face.talk.wait()
        assert face.given_back == ["second"]
        assert not face.talk.stop()
        assert "interrupted" in face.lines[-1]
        assert "nothing" not in await face.obey("/continue")

    face = play(scene)
    assert face.heard == ["first"]
    assert face.lines[-1] == "Fine."


def test_an_error_of_the_model_is_said_and_the_conversation_goes_on(stage: Stage, play: Play) -> None:
    stage.turns = [ModelUnavailable("overloaded for good"), say("Back.")]

    async def scene(face: Face) -> None:
        await face.say("go")
        assert face.lines[-1] == "✗ overloaded for good · /continue tries again"
        assert face.talk.failed
        await face.obey("/continue")

    assert play(scene).lines[-1] == "Back."


def test_a_bug_does_not_end_the_conversation(stage: Stage, play: Play) -> None:
    stage.turns = [ZeroDivisionError("oops"), say("Back.")]

    async def scene(face: Face) -> None:
        await face.say("go")
        assert "✗ ZeroDivisionError: oops" in face.lines[-1]
        await face.say("again")

    assert play(scene).lines[-1] == "Back."


def test_a_resumed_session_says_where_it_stands(stage: Stage, play: Play) -> None:
    stage.turns = [calls(call("bash", command=f"echo on; sleep {LONG}"))]
    stage.graph.create("Write the docs")

    async def scene(face: Face) -> None:
        first = face.talk.agent.session.id
        face.talk.agent.session.log(PlanChanged, steps=(PlanStep("Look", done=True), PlanStep("Fix")), current_step=2)
        face.talk.say("mend the parser")
        await face.until("on")
        face.talk.stop()
        await face.talk.wait()
        await face.obey("/fork")
        shown = await face.obey(f"/resume {first}")
        for part in ("resumed · ", "mend the parser", "1 of 2 steps done, now: Fix", "1 open: Write the docs"):
            assert part in shown
        assert "/continue goes on" in shown
        assert face.talk.agent.session.id == first

    play(scene)


def test_a_resumed_session_shows_the_last_answer_and_what_it_cost_before(stage: Stage, play: Play) -> None:
    stage.turns = [say("The parser is mended."), say("Hello.")]

    async def scene(face: Face) -> None:
        first = face.talk.agent.session.id
        await face.say("mend the parser")
        shown = await face.obey("/new")
        assert f"--resume {first}" in shown
        assert "resumed ·" not in shown
        second = face.talk.agent.session.id
        assert second != first
        await face.say("hello")
        listed = await face.obey("/resume")
        assert "mend the parser" in listed
        assert face.talk.agent.session.id == second
        assert "The parser is mended." in await face.obey(f"/resume {first}")
        assert re.search(r"requests +1", await face.obey("/cost"))

    play(scene)


def test_sessions_in_which_nothing_was_said_are_not_listed(stage: Stage, play: Play) -> None:
    async def scene(face: Face) -> None:
        left = short_session(face.talk.agent.session.id)
        shown = await face.obey("/clear")
        assert "/help lists the commands" in shown
        assert left not in await face.obey("/sessions")

    play(scene)


def test_what_was_noticed_before_anybody_watched_is_said(stage: Stage, play: Play) -> None:
    async def scene(face: Face) -> None:
        opened = face.talk.setup.open_agent

        def noticing(session: str | None, asker: Asker) -> Runtime:
            agent = opened(session, asker)
            agent.notices.append("outlive.toml is not trusted")
            return agent

        face.talk.setup = replace(face.talk.setup, open_agent=noticing)
        assert "· outlive.toml is not trusted" in await face.obey("/new")

    play(scene)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("/help", "/compact [FOCUS]"),
        ("/tasks", "○ 1 Write the docs"),
        ("/plan", "▸ Fix"),
        ("/directives", "◇ 1. Never push to main."),
        ("/directives drop 2", "/directives drop 1 to 1 takes one back"),
        ("/directives drop 1", "no longer: Never push to main."),
        ("/context", "next pass at"),
        ("/receipts", "no passes yet"),
        ("/recall on record", "said nothing"),
        ("/recall", "/recall @h12 gives the exact text"),
        ("/recall @h999", "✗ "),
        ("/undo", "there is no pass to take back"),
        ("/undo x", "not 'x'"),
        ("/mode", "▸ ask: asks before it edits or runs"),
        ("/mode nonsense", "the modes are ask, accept-edits, plan, bypass"),
        ("/model", "scripted:sonnet"),
        ("/model other:one", "cannot be changed here"),
        ("/mcp", "no MCP server counts here"),
        ("/cost", "requests  1"),
        ("/memory", "there is no memory here"),
        ("/sessions", "▸ "),
        ("/resume nonsense", "no session has 'nonsense' in its id"),
        ("/resume", "there is no other session"),
        ("/expand", "there are 0 results"),
        ("/continue", "nothing was cut off"),
        ("/compact", "nothing would be gained"),
        ("/renew now the docs", "a new sprint begins"),
        ("/contxt", "did you mean /context?"),
        ("/xyzzy", "/help lists the commands"),
    ],
)
def test_commands_answer(stage: Stage, play: Play, line: str, part: str) -> None:
    stage.turns = [say("I said nothing on record."), say("A summary.")]
    stage.graph.create("Write the docs")

    async def scene(face: Face) -> None:
        face.talk.agent.session.log(PlanChanged, steps=(PlanStep("Look", done=True), PlanStep("Fix")), current_step=2)
        await face.say("Never push to main.")
        assert part in await face.obey(line)

    play(scene)


def test_what_the_agent_keeps_for_itself_can_be_seen(play: Play) -> None:
    async def scene(face: Face) -> None:
        session = face.talk.agent.session
        session.user_said("go")
        session.assistant_said((ToolCall("c1", "read_file", {"path": "spec.md"}),))
        session.tool_finished("c1", "the specification")
        session.log(StateChanged, scratchpad="port 8412", preserved_refs=("c1",))
        session.log(PlanChanged, steps=(PlanStep("Look", done=True), PlanStep("Fix")))
        session.log(PlanChanged, steps=(PlanStep("Fix"),))
        assert "kept whole: read_file spec.md @h1" in await face.obey("/context")
        report = {"input": 9, "cache_miss": "messages_changed", "thinking_dropped": 2}
        face.talk.agent.session.log(UsageReported, of=0, **report)
        shown = await face.obey("/context")
        assert "cache missed: messages changed ×1 · 2 blocks of thinking dropped by the provider" in shown
        said = await face.obey("/plan")
        assert "done before Look" in said
        assert "scratchpad port 8412" in said

    play(scene)


def test_every_command_that_was_promised_is_there() -> None:
    promised = (
        "help tasks plan directives context compact receipts recall undo mode model cost memory sessions resume"
    )
    assert {*promised.split(), "renew", "fork", "export", "continue", "quit"} <= COMMANDS.keys()
    assert all(command.about for command in COMMANDS.values())


def test_mode_is_changed_and_shown(play: Play) -> None:
    async def scene(face: Face) -> None:
        assert await face.obey("/mode pl") == "· mode plan"
        assert face.talk.agent.mode == "plan"
        assert face.talk.facts is not None
        assert face.talk.facts.mode == "plan"

    play(scene)


def test_the_model_is_changed(stage: Stage) -> None:
    face = Face(stage, choose=lambda text: ScriptedModel([say("I am new.")], name=text))

    async def scene() -> None:
        await face.talk.open(None)
        assert await face.obey("/model other:one") == "going on with other:one"
        await face.say("who are you?")
        await face.talk.close()

    asyncio.run(scene())
    assert face.lines[-1] == "I am new."


def test_what_is_remembered_is_found_again(stage: Stage, play: Play, tmp_path: Path) -> None:
    async def scene(face: Face) -> None:
        agent = face.talk.agent
        memories = Memories.open(f"files:{tmp_path}/.tasks", home=tmp_path / "home")
        agent.memory = SessionMemory(memories, agent.session, face.talk.setup.store)
        assert "nothing is remembered yet" in await face.obey("/memory")
        assert "takes what to remember" in await face.obey("/remember")
        assert "remembered" in await face.obey("/remember We deploy on Monday mornings.")
        assert "Monday mornings" in await face.obey("/memory when do we deploy?")
        assert "We deploy on Monday mornings" in await face.obey("/memory")

    play(scene)


def test_a_pass_is_said_and_can_be_undone(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.turns = [calls(call("bash", command=f"seq {n} {n + 3000}")) for n in range(10)]
    stage.turns += [say("Seen."), say("## Summary\nNumbers were printed.")]
    face = Face(stage)

    async def scene() -> None:
        await face.talk.open(None)
        await face.say("print numbers")
        assert "⤵ compacted" in (shown := await face.obey("/compact numbers")), shown
        assert "/undo takes it back" in shown
        assert "event " in await face.obey("/receipts")
        assert "took back the pass" in await face.obey("/undo")
        assert "taken back" in await face.obey("/receipts")
        await face.talk.close()

    asyncio.run(scene())


def test_export_writes_the_log_and_never_over_a_file(stage: Stage, play: Play, tmp_path: Path) -> None:
    stage.turns = [say("Hello.")]

    async def scene(face: Face) -> None:
        await face.say("hi")
        assert "wrote " in await face.obey("/export out.jsonl")
        again, nowhere = await face.obey("/export out.jsonl"), await face.obey("/export nowhere/out.jsonl")
        assert "exists already" in " ".join(again.split())  # a long path breaks the line anywhere
        assert "cannot write" in " ".join(nowhere.split())

    play(scene)
    assert b"Hello." in (tmp_path / "out.jsonl").read_bytes()


def test_a_fork_leaves_the_first_as_it_was(stage: Stage, play: Play) -> None:
    stage.turns = [say("One."), say("Two.")]

    async def scene(face: Face) -> None:
        first = face.talk.agent.session.id
        await face.say("hi")
        before = len(full_log(stage.store, first).events)
        await face.obey("/fork")
        stage.opened[-1].parts.model = ScriptedModel([say("In the fork.")])
        await face.say("more")
        assert face.talk.agent.session.id != first
        assert len(full_log(stage.store, first).events) == before

    assert play(scene).lines[-1] == "In the fork."


def test_a_session_that_cannot_be_opened_leaves_the_open_one_in_place(stage: Stage, play: Play) -> None:
    stage.turns = [say("Still here.")]

    async def scene(face: Face) -> None:
        first = face.talk.agent.session.id
        with stage.store.create("busy"):
            assert "✗" in await face.obey("/resume busy")
        assert face.talk.agent.session.id == first
        await face.say("hello?")

    assert play(scene).lines[-1] == "Still here."


def test_commands_that_change_the_session_wait_for_the_agent(stage: Stage, play: Play) -> None:
    stage.turns = [calls(call("bash", command=f"echo on; sleep {LONG}"))]

    async def scene(face: Face) -> None:
        face.talk.say("go")
        await face.until("on")
        before = len(face.lines)
        await obey(face.talk, "/undo")
        await obey(face.talk, "/cost")
        assert "has to wait until the agent rests" in face.lines[before]
        assert face.lines[before + 1].startswith("cost")

    play(scene)


def test_a_model_that_takes_no_images_is_named_as_a_cause_with_the_way_back(stage: Stage, play: Play) -> None:
    stage.turns = [RequestRefused("image input is not supported"), say("Words, then.")]

    async def scene(face: Face) -> None:
        face.talk.say("what is it?", (Image(data="iVBORw0KGgo="),))
        await face.talk.wait()
        found = re.search(r"if this model takes no images: (/undo \d+)", " ".join(face.lines[-2:]))
        assert found, face.lines
        await face.obey(found[1])
        await face.say("go on in words")
        assert not any(
            isinstance(block, Image)
            for said in face.talk.agent.session.events
            if isinstance(said, UserSaid)
            for block in said.blocks
        )

    assert play(scene).lines[-1] == "Words, then."
