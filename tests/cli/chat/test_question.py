"""Nothing is granted by accident."""

import asyncio

import pytest

from outlive.cli.chat.question import KEY_PAUSE_SECONDS, Questions, asked, preview
from outlive.cli.chat.render.item import Item
from outlive.cli.chat.render.paint import Painter
from outlive.tools.permissions.asking import PermissionAnswer, PermissionQuestion

RM = PermissionQuestion("bash", "rm -rf build", always=("bash(rm *)",))


class Asking:
    """Questions with a clock of their own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.shown: list[Item] = []
        self.questions = Questions(self.shown.append, lambda: None, clock=lambda: self.now)

    async def ask(self, question: PermissionQuestion, *keys: str) -> PermissionAnswer:
        asking = asyncio.ensure_future(self.questions(question))
        await asyncio.sleep(0)
        for key in keys:
            self.questions.key(key)
        if not asking.done() and self.questions.reason:
            self.questions.answer(PermissionAnswer("no", "not now"))
        await asyncio.sleep(0)
        if not asking.done():
            asking.cancel()
        return await asking


@pytest.mark.parametrize(
    ("keys", "answer"),
    [("y", PermissionAnswer("yes")), ("a", PermissionAnswer("always")), ("n", PermissionAnswer("no", "not now"))],
)
def test_keys_answer(keys: str, answer: PermissionAnswer) -> None:
    assert asyncio.run(Asking().ask(RM, keys)) == answer


@pytest.mark.parametrize("key", ["x", "Y ", "yes", "", " ", "1"])
def test_other_keys_mean_nothing(key: str) -> None:
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Asking().ask(RM, key))


def test_always_needs_a_rule_to_remember() -> None:
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Asking().ask(PermissionQuestion("bash", "ls"), "a"))


def test_after_n_a_y_in_the_reason_is_not_a_yes() -> None:
    assert asyncio.run(Asking().ask(RM, "n", "y")).choice == "no"


def test_keys_count_only_after_a_pause_in_typing() -> None:
    async def scene() -> None:
        stage = Asking()
        asking = asyncio.ensure_future(stage.questions(RM))
        await asyncio.sleep(0)
        assert not stage.questions.armed
        stage.now += KEY_PAUSE_SECONDS - 0.1
        stage.questions.typed()
        stage.now += KEY_PAUSE_SECONDS - 0.1
        assert not stage.questions.armed
        stage.now += 0.2
        assert stage.questions.armed
        asking.cancel()

    asyncio.run(scene())


def test_an_interrupted_question_closes_and_the_next_can_be_asked() -> None:
    async def scene() -> PermissionAnswer:
        stage = Asking()
        with pytest.raises(asyncio.CancelledError):
            await stage.ask(RM)
        assert stage.questions.open is None
        return await stage.ask(RM, "y")

    assert asyncio.run(scene()) == PermissionAnswer("yes")


def test_questions_of_parallel_calls_come_one_after_the_other() -> None:
    async def scene() -> list[str]:
        stage, order = Asking(), []
        both = [asyncio.ensure_future(stage.questions(PermissionQuestion("bash", name))) for name in ("one", "two")]
        for _ in both:
            await asyncio.sleep(0)
            assert stage.questions.open is not None
            order.append(stage.questions.open.subject)
            stage.questions.key("y" if order[-1] == "two" else "n")
            stage.questions.answer(PermissionAnswer("no"))
            for _ in range(5):
                await asyncio.sleep(0)
        return [*order, *(one.choice for one in await asyncio.gather(*both))]

    assert asyncio.run(scene()) == ["one", "two", "no", "yes"]


MAKE = PermissionQuestion("bash", "make", always=("bash(make*)",))


@pytest.mark.parametrize(
    ("moves", "choice"), [((1,), "yes"), ((-1,), "no"), ((1, 1, 1), "always"), ((1, -1), "always"), ((1,) * 4, "yes")]
)
def test_enter_gives_the_answer_that_is_highlighted(moves: tuple[int, ...], choice: str) -> None:
    async def scene() -> PermissionAnswer:
        stage = Asking()
        asking = asyncio.ensure_future(stage.questions(MAKE))
        await asyncio.sleep(0)
        for steps in moves:
            stage.questions.move(steps)
        stage.questions.enter()
        if stage.questions.reason:
            stage.questions.answer(PermissionAnswer("no"))
        return await asking

    assert asyncio.run(scene()).choice == choice


def test_nothing_is_highlighted_until_a_key_chose_it_and_enter_does_nothing_until_then() -> None:
    async def scene() -> None:
        stage = Asking()
        asking = asyncio.ensure_future(stage.questions(MAKE))
        await asyncio.sleep(0)
        stage.questions.enter()
        await asyncio.sleep(0)
        assert not asking.done()
        shown = asked(MAKE, armed=True, reason=False, chosen=stage.questions.chosen)
        assert "▸" not in "".join(text.plain for text in shown)
        stage.questions.move(1)
        shown = asked(MAKE, armed=True, reason=False, chosen=stage.questions.chosen)
        assert shown[1].plain == "▸ y yes   n no, and why   then Enter"
        stage.questions.answer(PermissionAnswer("no"))
        await asking
        again = asyncio.ensure_future(stage.questions(MAKE))
        await asyncio.sleep(0)
        assert stage.questions.chosen == ""  # the next question begins without a choice
        again.cancel()

    asyncio.run(scene())


def test_the_rule_behind_always_is_shown() -> None:
    lines = [line for text in asked(RM, armed=True, reason=False) for line in Painter(80, "plain").lines(text)]
    assert lines == ["? bash rm -rf build", "  y yes   n no, and why   ↑↓ choose", "  a always bash(rm *)"]


def test_always_says_that_it_is_for_the_very_line_that_is_shown() -> None:
    texts = asked(PermissionQuestion("bash", "rm x", always=("bash(=rm x)",)), armed=True, reason=False)
    assert [text.plain for text in texts] == [
        "? bash rm x",
        "  y yes   n no, and why   ↑↓ choose",
        "  a always, exactly this",
    ]


def test_rules_that_say_something_else_than_the_question_are_shown_whole() -> None:
    long = f"edit_file(={'folder/' * 60}a.py)"
    texts = asked(PermissionQuestion("edit_file", "a.py", always=(long,)), armed=True, reason=False)
    assert texts[-1].plain == f"  a always {long}"


def test_what_cannot_be_remembered_is_said_to_be_for_once() -> None:
    texts = asked(PermissionQuestion("bash", "a > b"), armed=True, reason=False)
    assert [text.plain for text in texts][1:] == [
        "  y yes   n no, and why   ↑↓ choose",
        "  only this once: no plain rule covers all of it",
    ]


def test_a_preview_is_shown_as_a_diff() -> None:
    question = PermissionQuestion("edit_file", "a.py", preview="@@ -1 +1 @@\n-old\n+new")
    lines = Painter(80).lines(preview(question))
    assert [line.replace("\x1b[0m", "") for line in lines[1:]] == ["  \x1b[31m-old", "  \x1b[32m+new"]


def test_a_command_too_long_for_the_screen_is_printed_in_full() -> None:
    command = "\n".join(f"step {n}" for n in range(60))
    joined = "\n".join(Painter(80, "plain").lines(preview(PermissionQuestion("bash", command))))
    assert all(f"step {n}" in joined for n in range(60))
