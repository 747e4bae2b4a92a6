"""Experiments with the recorded session of the second lesson: rungs, and what survives them."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path

from outlive.web.learn import recording
from outlive.web.learn.player import digest_of, played
from outlive.web.learn.quiz.question import QuizFinding
from outlive.web.learn.rungs import seen_at
from outlive.web.learn.survival import LARGEST, POLICY, SurvivalLesson

PLACES = ("In the window", "Not in the window, but a handle leads to it", "Nowhere any more")
WHERE = {"window": 0, "handle": 1, "log": 1, "elsewhere": 1, "unsaid": 2}
WORDS = {
    "window": "in the window",
    "handle": "behind a handle",
    "log": "in the log, found by a search",
    "elsewhere": "in the log of the first session",
    "unsaid": "nowhere",
}
KEPT_WINDOWS = 32  # any number of window sizes can be asked for, and each plays the session


@contextmanager
def _lesson(window: int) -> Iterator[SurvivalLesson]:
    """The second lesson at a window, in a folder of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="outlive-learn-") as folder,
        closing(SurvivalLesson(Path(folder), window)) as lesson,
    ):
        yield lesson


@lru_cache(maxsize=KEPT_WINDOWS)
def where_at(window: int) -> dict[str, str]:
    """Where each fact is at the end of the session, played at a window."""
    with _lesson(window) as lesson:
        return lesson.where()


def at_window(key: str, window: int) -> QuizFinding:
    """Where a fact is at a window."""
    where = where_at(window)[key]
    return QuizFinding(
        WHERE[where], f"The engine played the session at {window:,} tokens. The text is {WORDS[where]}."
    )


def after_rung(key: str, rung: str) -> QuizFinding:
    """Where a fact is after a pass that used a rung."""
    seen = seen_at(rung)
    where = seen.where(key)
    sizes = f"{seen.receipt['before']:,} → {seen.receipt['after']:,} tokens"
    return QuizFinding(WHERE[where], f"The engine made the pass ({sizes}). The text is {WORDS[where]}.")


def rung_named(name: str, choices: tuple[str, ...]) -> Callable[[], QuizFinding]:
    """The one choice that the receipt of such a pass names."""

    def check() -> QuizFinding:
        rungs = seen_at(name).receipt["rungs"]
        assert isinstance(rungs, tuple)  # noqa: S101 - made by receipt_facts
        (right,) = [number for number, choice in enumerate(choices) if choice in rungs]
        return QuizFinding(right, f"The engine made such a pass; its receipt says: {' + '.join(rungs)}.")

    return check


def keeps_front() -> QuizFinding:
    choices = ("spool", "micro", "collapse", "auto")
    keeping = [name for name in choices if seen_at(name).keeps_front]
    return QuizFinding(
        choices.index(keeping[0]), f"Of these four passes {' and '.join(keeping)} left the earlier messages alone."
    )


# -- to-do or task, where only the context can tell


def _lists(where: dict[str, str], evidence: str) -> QuizFinding:
    """The list that is still in the window; the to-do list if both are, because it is the simpler one."""
    right = 0 if where["todo"] == "window" else 1
    return QuizFinding(right, f"{evidence} To-do list: {WORDS[where['todo']]}. Tasks: {WORDS[where['tasks']]}.")


def _after_swap() -> dict[str, str]:
    with _lesson(LARGEST) as lesson:
        lesson.swap()
        return lesson.where()


def next_agent() -> QuizFinding:
    return _lists(_after_swap(), "The engine opened a second session on the same stores.")


def after_compaction() -> QuizFinding:
    seen = seen_at("auto")
    return _lists({key: seen.where(key) for key in ("todo", "tasks")}, "The engine compacted the session.")


def right_now() -> QuizFinding:
    return _lists(where_at(LARGEST), "The engine played the session in a window that holds all of it.")


# -- what survives


def after_restart() -> QuizFinding:
    with _lesson(16_000) as lesson:
        done = lesson.restart()
    evidence = f"SHA-256 of the request before: {str(done['before'])[:12]}…, after: {str(done['after'])[:12]}…."
    return QuizFinding(0 if done["same"] else 1, evidence)


def users_words_after_swap() -> QuizFinding:
    where = _after_swap()["asked"]
    evidence = f"The engine opened a second session on the same stores. The words are {WORDS[where]}."
    return QuizFinding({"window": 0, "elsewhere": 1}[where], evidence)


def recalled() -> QuizFinding:
    call = next(call for turn in recording.turns() for call in turn.calls if recording.DETAIL in call.result)
    with _lesson(8_000) as lesson:
        same = lesson.recall("@h4")["text"] == call.result
    evidence = (
        f"The file had {len(call.result):,} characters. recall @h4 gave exactly these: {'yes' if same else 'no'}."
    )
    return QuizFinding(0 if same else 1, evidence)


def undone() -> QuizFinding:
    with played(LARGEST, POLICY) as session:
        before = digest_of(session.engine)
        session.compact()
        session.undo_pass()
        same = digest_of(session.engine) == before
    evidence = f"The engine compacted and took it back. Same request as before: {'yes' if same else 'no'}."
    return QuizFinding(0 if same else 1, evidence)


def log_after_pass() -> QuizFinding:
    with played(LARGEST, POLICY) as session:
        before = session.last_event
        session.compact()
        after = session.last_event
    return QuizFinding(
        0 if after > before else 1, f"The log had {before} events before the pass and {after} after it."
    )
