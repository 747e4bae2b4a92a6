"""The memory of a session: what it shows, when, and what it keeps of what was said."""

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from outlive import Agent
from outlive.agent.memory.session_memory import Extraction, SessionMemory
from outlive.agent.session import Session
from outlive.errors import StoreUnavailable
from outlive.events import Event, Noted, UsageReported
from outlive.memory.learning import keep
from outlive.memory.learning.candidate import Candidate, against
from outlive.memory.learning.keep import MAX_COMPARED
from outlive.memory.memories import Memories
from outlive.memory.prompt_block import shown_in
from outlive.memory.transfer import Imported, import_memories
from outlive.messages import Text, plain_text
from outlive.request import Request
from outlive.stores import open_stores
from outlive.stores.logs.protocol import LogStore
from outlive.stores.memories.records import Memory
from outlive.testing import ScriptedModel, call, calls, say
from outlive.testing.simulator import Step
from tests.agents import run
from tests.talk import talk

NOTHING = '{"memories": []}'


class MemorySession:
    """Sessions of one user in one folder."""

    def __init__(self, folder: Path) -> None:
        self.store: LogStore = open_stores(f"files:{folder}/.tasks", durability="process").logs
        self.memories = Memories.open(base=folder, home=folder / "home", durability="process")
        self.asked: list[str] = []

    def open(self, name: str, extraction: Extraction = "never") -> SessionMemory:
        session = Session.start(self.store, id=name, system="Be brief.", window=200_000)
        return SessionMemory(self.memories, session, self.store, extraction)

    def turn(self, at: SessionMemory, words: str, *answers: str | Exception) -> list[str]:
        """Say something; what is noted when the run has ended."""
        before = at.session.last_event
        at.session.user_said((Text(words),))
        left = list(answers)

        async def ask(prompt: str) -> str:
            self.asked.append(prompt)
            answer = left.pop(0) if left else NOTHING
            if isinstance(answer, Exception):
                raise answer
            return answer

        run(at.after_run(ask))
        return [note.text for note in at.session.events if isinstance(note, Noted) and note.id > before]

    def bodies(self) -> list[str]:
        return sorted(memory.body for memory in self.memories.all())


@pytest.fixture
def context(tmp_path: Path) -> Iterator[MemorySession]:
    made = MemorySession(tmp_path)
    yield made
    made.memories.close()


# -- corrections


def test_what_the_user_corrects_is_corrected_within_a_turn_and_after_it(context: MemorySession) -> None:
    at = context.open("s")
    context.turn(at, "Remember that the port is 8080.")
    context.turn(at, "Remember that the port is now 80. Remember that the port is now 443.")
    assert context.bodies() == ["The port is now 443."]


def test_the_remember_tool_and_the_command_correct_too(context: MemorySession) -> None:
    at = context.open("s")
    at.told("The staging port is 80.")
    at.told("The staging port is now 443.")
    assert context.bodies() == ["The staging port is now 443."]
    assert "already" in at.told("The staging port is now 443!")
    at.session.user_said((Text("Thanks. The staging port is now 8443. Go on."),))
    at.remember("the staging port is now 8443", "another name", "project", "project")
    assert context.bodies() == ["The staging port is now 8443."]
    (kept,) = context.memories.all()
    assert (kept.name, kept.provenance.who) == (kept.body, "user")
    at.remember("The staging port is open.", "a reading", "project", "project")
    assert context.memories.get("a reading").provenance.who == "model"


def test_what_is_known_is_said_to_be_and_what_is_corrected_is_named(context: MemorySession) -> None:
    at = context.open("s")
    context.turn(at, "Remember that the staging port is 80.")
    (again,) = context.turn(at, "Remember that the staging port is 80!")
    assert again == "remembered already as The staging port is 80."
    (instead,) = context.turn(at, "Remember that the staging port is 443, not 80.")
    assert ", in place of The staging port is 80." in instead
    assert at.told("The staging port is 443, not 80") == "remembered already as The staging port is 443, not 80."


def test_a_model_does_not_correct_the_user_and_both_are_shown_the_newer_first(context: MemorySession) -> None:
    at = context.open("s")
    at.told("The staging port is 80.")
    (old,) = context.memories.all()
    at.remember("The staging port is now 443.", old.name, "project", "project")
    assert context.bodies() == ["The staging port is 80.", "The staging port is now 443."]

    async def ask(prompt: str) -> str:
        raise AssertionError(prompt)

    shown = run(at.relevant("Which is the staging port?", ask))
    assert 0 < shown.index("443") < shown.index("is 80")


def test_among_many_memories_only_those_near_are_compared_and_the_right_one_is_found(
    context: MemorySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = datetime(2026, 5, 1, tzinfo=UTC)
    said = {f"n{number}": f"The port of room {number} is {number + 1000}." for number in range(600)}
    many = (Memory(slug="-", name=name, body=body, created=moment, updated=moment) for name, body in said.items())
    import_memories(context.memories, [("line", memory) for memory in many], Imported())
    compared: list[int] = []

    def counted(candidate: Candidate, existing: Sequence[Memory]) -> Candidate | None:
        compared.append(len(existing))
        return against(candidate, existing)

    monkeypatch.setattr(keep, "against", counted)
    at = context.open("s")
    assert "already" in at.told("The port of room 17 is 1017!")
    at.told("The port of room 17 is now 443.")
    assert "The port of room 17 is now 443." in context.bodies()
    assert "The port of room 17 is 1017." not in context.bodies()
    assert len(context.bodies()) == 600
    assert at.told("The room with number 18 has plants.").startswith("remembered")
    at.remember("Something else entirely.", "N300", "project", "project")  # called like the user's, and no correction
    assert len(context.bodies()) == 602
    assert max(compared) <= MAX_COMPARED + 2


def test_what_is_about_the_person_is_known_in_all_projects(context: MemorySession) -> None:
    at = context.open("s")
    context.turn(at, "Remember that I am a data scientist.")
    at.told("I prefer short answers")
    at.told("use tabs in Makefiles")
    assert [memory.scope for memory in sorted(context.memories.all(), key=lambda m: m.body)] == [
        "user",
        "user",
        "project",
    ]


def test_a_request_that_is_too_long_is_refused_aloud(context: MemorySession) -> None:
    notes = context.turn(context.open("s"), "Remember that " + "x " * 4_000)
    assert len(notes) == 1
    assert "too long: Remember that x" in notes[0]


def test_code_is_remembered_with_the_words_that_ask_for_it_or_it_is_said_why_not(context: MemorySession) -> None:
    at = context.open("s")
    notes = context.turn(at, "Thanks. Remember this command:\n```sh\nmake ship STAGE=prod\n```")
    assert context.bodies() == ["This command:\n```sh\nmake ship STAGE=prod\n```"]
    (kept,) = context.memories.all()
    assert kept.name == kept.description == "This command: make ship STAGE=prod"
    assert len(notes) == 1
    (secret,) = context.turn(at, "Remember the following:\n```\nexport PASSWORD=hunter2hunter2\n```")
    assert "not remembered" in secret
    assert "hunter2" not in secret
    (long,) = context.turn(at, "Thanks. Remember the following:\n```\n" + "make ship\n" * 800 + "```")
    assert "too long" in long
    assert len(context.bodies()) == 1


# -- catching up


def test_all_sessions_that_died_are_caught_up_with_the_oldest_first(context: MemorySession) -> None:
    for name, words in (
        ("a", "Remember that I keep tabs in Makefiles."),
        ("b", "Remember that we deploy on Fridays."),
        ("c", "Remember that we deploy on Mondays, not on Fridays. From now on write docstrings in English."),
    ):
        at = context.open(name)
        at.session.user_said((Text(words),))
        at.session.close()
    at = context.open("d")
    notes = context.turn(at, "Hello?")
    assert context.bodies() == ["I keep tabs in Makefiles.", "We deploy on Mondays, not on Fridays."]
    assert any("worth remembering? From now on" in note for note in notes)
    assert context.turn(context.open("e"), "Hello?") == []


def test_a_session_in_which_somebody_works_is_left_to_them_and_the_others_are_not(context: MemorySession) -> None:
    gone = context.open("a")
    gone.session.user_said((Text("Remember that we deploy on Fridays."),))
    gone.session.close()
    busy = context.open("b")
    busy.session.user_said((Text("Remember that the port is 80."),))
    context.turn(context.open("c"), "Hello?")
    assert context.bodies() == ["We deploy on Fridays."]


@pytest.mark.parametrize("failure", ["nonsense", TimeoutError()])
def test_words_that_a_model_did_not_answer_about_are_asked_about_again(
    context: MemorySession, failure: str | Exception
) -> None:
    at = context.open("s", "auto")
    notes = context.turn(
        at, "From now on write docstrings in English. Remember that password=hunter2hunter2", failure
    )
    assert any("asked again" in note for note in notes)
    assert sum("not remembered" in note for note in notes) == 1
    notes = context.turn(at, "thanks")
    assert "docstrings in English" in context.asked[1]
    assert not any("not remembered" in note for note in notes)
    context.turn(at, "thanks again")
    assert len(context.asked) == 2


def test_a_model_that_never_answers_is_not_asked_for_ever(context: MemorySession) -> None:
    at = context.open("s", "auto")
    context.turn(at, "From now on write docstrings in English.", "nonsense")
    context.turn(at, "thanks", "nonsense")
    notes = context.turn(at, "thanks", "nonsense")
    assert any("given up after 3 tries" in note for note in notes)
    context.turn(at, "thanks")
    assert len(context.asked) == 3


# -- what is shown, and when


class Model(ScriptedModel):
    """Calls a tool some times in each turn; tells the harness's own questions from turns."""

    def __init__(self, rounds: int = 0) -> None:
        super().__init__([self.answer] * 99)
        self.rounds = rounds
        self.seen: list[Request] = []
        self.questions: list[str] = []

    def answer(self, request: Request) -> Step:
        if not request.tools:
            self.questions.append(plain_text(request.messages[-1].blocks))
            return say("all of them" if "Which of these" in self.questions[-1] else NOTHING)
        self.seen.append(request)
        rounds = sum(message.role == "assistant" for message in request.messages)
        return calls(call("glob", pattern=f"*.{rounds}")) if rounds % (self.rounds + 1) < self.rounds else say("ok")


def memories_in(request: Request) -> list[set[str]]:
    """The blocks of memories in a request, each with what it shows."""
    texts = [getattr(block, "text", "") for message in request.messages for block in message.blocks]
    return [shown_in(text) for text in texts if "<memories>" in text]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def fill(project: Path, count: int) -> None:
    memories = Memories.open(base=project)
    for number in range(count):
        memories.add(f"Makefile rule {number}", f"Makefile rule number {number} says indentation with tabs.")
    memories.close()


def session_of(project: Path, model: Model, *turns: str) -> None:
    async def work() -> None:
        async with Agent(project, model=model) as agent:
            for words in turns:
                await agent.run(words)
                assert agent._runtime._learning is not None
                await agent._runtime._learning

    run(work())


def test_memories_are_chosen_once_a_turn_however_often_tools_are_called(project: Path) -> None:
    fill(project, 8)
    (project / "outlive.toml").write_text('[memory]\nextract = "never"\nrerank = true\n')
    model = Model(rounds=3)
    session_of(project, model, "Which indentation do the Makefile rules want?")
    assert len(model.seen) == 4
    assert sum("Which of these" in question for question in model.questions) == 1
    (block,) = memories_in(model.seen[-1])
    assert len(block) <= 5
    assert [memories_in(request) for request in model.seen] == [[block]] * 4


def test_what_a_model_is_asked_about_order_is_counted_and_no_part_of_the_conversation(project: Path) -> None:
    fill(project, 22)
    (project / "outlive.toml").write_text('[memory]\nextract = "never"\n')
    model = Model()

    async def work() -> list[Event]:
        async with Agent(project, model=model) as agent:
            await agent.run("Hello?")
            assert agent._runtime._learning is not None
            await agent._runtime._learning
            return list(agent.events)

    events = run(work())
    (question,) = model.questions
    assert "Bring them into order" in question
    assert sum(isinstance(event, UsageReported) and event.of == 0 for event in events) == 1
    assert "Bring them into order" not in str(model.seen)


def test_at_most_five_are_shown_and_none_again_while_it_is_in_view(project: Path) -> None:
    fill(project, 8)
    (project / "outlive.toml").write_text('[memory]\nextract = "never"\n')
    model = Model()
    session_of(project, model, *["Which indentation do the Makefile rules want?"] * 3)
    first, second = memories_in(model.seen[-1])
    assert (len(first), len(second)) == (5, 3)
    assert not first & second


def test_the_system_prompt_stays_as_it_is_while_things_are_learned(project: Path) -> None:
    fill(project, 2)
    model = Model()
    session_of(project, model, "Remember that we deploy on Mondays.", "Remember that the port is 80.", "Hello?")
    assert len({request.system for request in model.seen}) == 1
    assert "Makefile rule 1" in model.seen[0].system
    again = Model()
    session_of(project, again, "Hello?")
    assert "deploy on Mondays" in again.seen[0].system


# -- tidying, and what goes wrong


def consolidations(memories: Memories) -> int:
    return sum(entry.step.op == "consolidate" for entry in memories.log())


def test_memories_are_tidied_after_some_sessions_the_users_own_too(context: MemorySession) -> None:
    for scope in context.memories.stores:
        context.memories.add("Deploys", "We deploy on Mondays.", scope=scope)
    for number in range(5):
        context.open(f"s{number}").session.close()
    context.turn(context.open("last"), "Hello?")
    assert consolidations(context.memories) == len(context.memories.stores) == 2


def test_memories_are_tidied_when_it_is_due_and_not_on_each_turn(context: MemorySession) -> None:
    at = context.open("s")
    context.turn(at, "Remember that we deploy on Mondays.")
    context.turn(at, "Hello?")
    assert consolidations(context.memories) == 0
    for number in range(25):
        context.memories.add(f"Fact {number}", f"Room {number} has a window.")
    for _ in range(3):
        context.turn(at, "Hello?")
    assert consolidations(context.memories) == 1


def test_what_goes_wrong_is_said_and_disturbs_nothing(
    context: MemorySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = context.open("s")
    assert any("not remembered" in note for note in context.turn(at, "Remember that password=hunter2hunter2"))

    def broken(*_: object) -> None:
        raise StoreUnavailable("the disk is gone")

    monkeypatch.setattr(context.memories, "in_use", broken)
    notes = context.turn(at, "Remember that we deploy on Mondays.")
    assert any("nothing was learned" in note and "the disk is gone" in note for note in notes)
    monkeypatch.undo()
    context.turn(at, "Hello?")
    assert context.bodies() == ["We deploy on Mondays."]


def test_what_left_the_view_in_a_pass_is_learned_from(context: MemorySession) -> None:
    at = context.open("s")
    at.session.user_said((Text("Remember that we deploy on Mondays."),))
    assert talk(at.session, 30) > 0
    context.turn(at, "Hello?")
    assert context.bodies() == ["We deploy on Mondays."]


def test_what_was_learned_stands_in_the_prompt_once_the_provider_has_let_go_of_it(
    context: MemorySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = context.open("s")
    at.session.user_said("hello")
    at.session.assistant_said((Text("hello"),))
    assert at.index() == ""
    context.memories.add("Port", "The port is 80.")
    assert at.index() == ""
    monkeypatch.setattr(time, "time", lambda: at.session.engine.history.heard_at + 301)
    assert "The port is 80." in at.index()
