"""The memory of a session: what it shows, when, and what it keeps of what was said."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.events import Noted
from outlive.memory.book import Memories
from outlive.messages import Text
from outlive.session.remembering import Extraction, Remembering
from outlive.session.session import Session
from outlive.stores import open_log_store
from outlive.stores.log_protocol import LogStore
from tests.agents import run

NOTHING = '{"memories": []}'


class Desk:
    """Sessions of one user in one folder."""

    def __init__(self, folder: Path) -> None:
        self.store: LogStore = open_log_store(f"files:{folder}/.tasks", durability="process")
        self.memories = Memories.open(base=folder, home=folder / "home", durability="process")
        self.asked: list[str] = []

    def open(self, name: str, extraction: Extraction = "never") -> Remembering:
        session = Session.start(self.store, id=name, system="Be brief.", window=200_000)
        return Remembering(self.memories, session, self.store, extraction)

    def turn(self, at: Remembering, words: str, *answers: str | Exception) -> list[str]:
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
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.memories.close()


# -- corrections


def test_what_the_user_corrects_is_corrected_within_a_turn_and_after_it(desk: Desk) -> None:
    at = desk.open("s")
    desk.turn(at, "Remember that we deploy on Fridays.")
    desk.turn(at, "Remember that we deploy on Mondays, not on Fridays. Remember that we deploy on Tuesdays.")
    assert desk.bodies() == ["We deploy on Tuesdays."]


def test_the_remember_tool_and_the_command_correct_too(desk: Desk) -> None:
    at = desk.open("s")
    at.told("The staging port is 80.")
    at.told("The staging port is 443.")
    assert desk.bodies() == ["The staging port is 443."]
    assert "already" in at.told("The staging port is 443!")
    at.session.user_said((Text("The staging port is 8443 since the move."),))
    at.remember("The staging port is 8443 since the move.", "another name", "project", "project")
    assert desk.bodies() == ["The staging port is 8443 since the move."]


def test_a_model_does_not_correct_the_user_and_both_are_shown_the_newer_first(desk: Desk) -> None:
    at = desk.open("s")
    at.told("The staging port is 80.")
    (old,) = desk.memories.all()
    at.remember("The staging port is 443.", old.name, "project", "project")
    assert desk.bodies() == ["The staging port is 443.", "The staging port is 80."]

    async def ask(prompt: str) -> str:
        raise AssertionError(prompt)

    shown = run(at.relevant("Which is the staging port?", ask))
    assert 0 < shown.index("443") < shown.index("is 80")


def test_what_is_about_the_person_is_known_in_all_projects(desk: Desk) -> None:
    at = desk.open("s")
    desk.turn(at, "Remember that I am a data scientist.")
    at.told("I prefer short answers")
    at.told("use tabs in Makefiles")
    assert [memory.scope for memory in sorted(desk.memories.all(), key=lambda m: m.body)] == [
        "user",
        "user",
        "project",
    ]


def test_a_request_that_is_too_long_is_refused_aloud(desk: Desk) -> None:
    notes = desk.turn(desk.open("s"), "Remember that " + "x " * 4_000)
    assert len(notes) == 1
    assert "too long: Remember that x" in notes[0]


# -- catching up


def test_all_sessions_that_died_are_caught_up_with_the_oldest_first(desk: Desk) -> None:
    for name, words in (
        ("a", "Remember that I keep tabs in Makefiles."),
        ("b", "Remember that we deploy on Fridays."),
        ("c", "Remember that we deploy on Mondays. From now on write docstrings in English."),
    ):
        at = desk.open(name)
        at.session.user_said((Text(words),))
        at.session.close()
    at = desk.open("d")
    notes = desk.turn(at, "Hello?")
    assert desk.bodies() == ["I keep tabs in Makefiles.", "We deploy on Mondays."]
    assert any("worth remembering? From now on" in note for note in notes)
    assert desk.turn(desk.open("e"), "Hello?") == []


def test_a_session_in_which_somebody_works_is_left_to_them_and_the_others_are_not(desk: Desk) -> None:
    gone = desk.open("a")
    gone.session.user_said((Text("Remember that we deploy on Fridays."),))
    gone.session.close()
    busy = desk.open("b")
    busy.session.user_said((Text("Remember that the port is 80."),))
    desk.turn(desk.open("c"), "Hello?")
    assert desk.bodies() == ["We deploy on Fridays."]


@pytest.mark.parametrize("failure", ["nonsense", TimeoutError()])
def test_words_that_a_model_did_not_answer_about_are_asked_about_again(desk: Desk, failure: str | Exception) -> None:
    at = desk.open("s", "auto")
    notes = desk.turn(at, "From now on write docstrings in English. Remember that password=hunter2hunter2", failure)
    assert any("asked again" in note for note in notes)
    assert sum("not remembered" in note for note in notes) == 1
    notes = desk.turn(at, "thanks")
    assert "docstrings in English" in desk.asked[1]
    assert not any("not remembered" in note for note in notes)
    desk.turn(at, "thanks again")
    assert len(desk.asked) == 2


def test_a_model_that_never_answers_is_not_asked_for_ever(desk: Desk) -> None:
    at = desk.open("s", "auto")
    desk.turn(at, "From now on write docstrings in English.", "nonsense")
    desk.turn(at, "thanks", "nonsense")
    notes = desk.turn(at, "thanks", "nonsense")
    assert any("given up after 3 tries" in note for note in notes)
    desk.turn(at, "thanks")
    assert len(desk.asked) == 3
