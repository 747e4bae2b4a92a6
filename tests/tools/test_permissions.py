"""Who may do what: every mode with every kind of tool, rules, questions, and what no mode allows."""

import asyncio
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import Struct

from outlive.events import Denial
from outlive.tools.permissions.asking import MODES, PermissionAnswer, PermissionMode, PermissionQuestion
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.gate import Permissions
from outlive.tools.permissions.rules import MAX_SEARCHED_CHARS, Rules
from outlive.tools.protocol import Effect, Tool, ToolContext, ToolOutcome
from outlive.tools.runner import Verdict


class Given(Struct):
    about: str = ""


class Some(Tool[Given]):
    """A tool of any effect."""

    description = ""
    input = Given

    def __init__(self, name: str, effect: Effect) -> None:
        self.name = name
        self.effect = effect

    async def run(self, given: Given, context: ToolContext) -> ToolOutcome:
        raise AssertionError("the gate only decides")

    def subject(self, given: Given) -> str:
        return given.about

    def paths(self, given: Given) -> tuple[str, ...]:
        return () if self.effect == "run" or not given.about else (given.about,)

    def preview(self, given: Given, context: ToolContext) -> str:
        return f"preview of {given.about}"


BASH, EDIT, LOOK = Some("bash", "run"), Some("edit_file", "edit"), Some("read_file", "look")


class Face:
    """Answers as it was told to, and remembers what it was asked."""

    def __init__(self, *answers: PermissionAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionQuestion] = []

    async def __call__(self, question: PermissionQuestion) -> PermissionAnswer:
        self.asked.append(question)
        await asyncio.sleep(0)
        return self.answers.pop(0)


class House:
    """A gate and what it needs."""

    def __init__(
        self, root: Path, mode: PermissionMode = "ask", face: Face | None = None, **rules: list[str]
    ) -> None:
        self.context = cast(ToolContext, _Context(Fence(root)))
        self.mode: PermissionMode = mode
        self.kept: list[str] = []
        self.gate = Permissions(lambda: self.mode, Rules(**rules), face, self.kept.append)

    def ask(self, tool: Some, about: str = "") -> Verdict:
        return asyncio.run(self.gate.allows(tool, Given(about), self.context))


class _Context:
    def __init__(self, fence: Fence) -> None:
        self.fence = fence
        self.call_id = "c1"
        self.session = _Log()


class _Log:
    def log(self, kind: type, /, **fields: object) -> None:
        """Questions and answers are logged; here nobody reads them."""


FREE: dict[str, tuple[Effect, ...]] = {
    "ask": ("look", "state", "tasks"),
    "accept-edits": ("look", "state", "tasks", "edit"),
    "plan": ("look", "state"),
    "bypass": ("look", "state", "tasks", "edit", "run"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("effect", FREE["bypass"])
def test_what_each_mode_allows_without_asking(tmp_path: Path, mode: PermissionMode, effect: Effect) -> None:
    verdict = House(tmp_path, mode).ask(Some("some", effect), "file")
    assert verdict.allowed is (effect in FREE[mode])


def test_plan_mode_stands_above_rules_and_answers_and_says_what_to_do(tmp_path: Path) -> None:
    face = Face(PermissionAnswer("yes"))
    house = House(tmp_path, "plan", face, allow=["bash", "edit_file"])
    for tool in (BASH, EDIT):
        verdict = house.ask(tool, "x")
        assert not verdict.allowed
        assert "present the plan" in verdict.reason
    assert face.asked == []


def test_a_mode_that_became_plan_while_the_user_thought_counts(tmp_path: Path) -> None:
    house = House(tmp_path)

    async def face(question: PermissionQuestion) -> PermissionAnswer:
        house.mode = "plan"
        return PermissionAnswer("always")

    house.gate = Permissions(lambda: house.mode, Rules(), face, house.kept.append)
    assert not house.ask(BASH, "pytest").allowed
    assert house.kept == []


@pytest.mark.parametrize("mode", MODES)
def test_deny_rules_win_in_every_mode(tmp_path: Path, mode: PermissionMode) -> None:
    house = House(
        tmp_path,
        mode,
        Face(*[PermissionAnswer("yes")] * 9),
        allow=["bash", "edit_file"],
        deny=["bash(rm*)", "*(.env)"],
    )
    assert "bash(rm*)" in house.ask(BASH, "ls; rm x").reason
    assert not house.ask(LOOK, "sub/.env").allowed
    assert not house.ask(EDIT, ".env").allowed
    assert not house.ask(BASH, "cat .env").allowed


@pytest.mark.parametrize("mode", MODES)
def test_a_line_too_long_for_deny_rules_is_refused_in_every_mode(tmp_path: Path, mode: PermissionMode) -> None:
    house = House(tmp_path, mode, Face(*[PermissionAnswer("yes")] * 9), allow=["bash"], deny=["bash(rm*)"])
    verdict = house.ask(BASH, "rm x " + "y" * MAX_SEARCHED_CHARS)
    assert not verdict.allowed
    assert "write_file" in verdict.reason


def test_deny_rules_are_looked_for_beside_the_event_loop(tmp_path: Path) -> None:
    """So that a Ctrl-C is heard meanwhile."""
    threads: list[int] = []

    class Seen(Rules):
        def denied(self, tool: str, subject: str, paths: Iterable[str]) -> str:
            threads.append(threading.get_ident())
            return super().denied(tool, subject, paths)

    house = House(tmp_path, "bypass")
    house.gate = Permissions(lambda: house.mode, Seen([], ["bash(rm*)"]), None, house.kept.append)
    assert house.ask(BASH, "ls").allowed
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("mode", MODES)
def test_no_mode_leads_out_of_the_fence_or_into_the_harness(tmp_path: Path, mode: PermissionMode) -> None:
    (tmp_path / "work").mkdir()
    house = House(tmp_path / "work", mode, Face(*[PermissionAnswer("yes")] * 9), allow=["edit_file", "read_file"])
    refused = house.ask(LOOK, "../x")
    assert ("outside of the workspace" in refused.reason, refused.denial.by) == (True, "fence")
    assert not house.ask(EDIT, "/etc/passwd").allowed
    for path in ("outlive.toml", ".git/hooks/x", ".transcripts/s.jsonl"):
        assert "belongs to" in house.ask(EDIT, path).reason
        assert house.ask(LOOK, path).allowed


def test_a_link_does_not_dodge_a_deny_rule(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "innocent.txt").symlink_to(".env")
    assert not House(tmp_path, "bypass", deny=["read_file(.env)"]).ask(LOOK, "innocent.txt").allowed


def test_an_answer_that_was_not_offered_is_a_no(tmp_path: Path) -> None:
    house = House(tmp_path, "ask", Face(PermissionAnswer(cast(Any, "maybe"))))
    assert not house.ask(BASH, "make").allowed
    assert house.kept == []


def test_the_user_is_asked_with_what_would_change(tmp_path: Path) -> None:
    face = Face(PermissionAnswer("yes"), PermissionAnswer("no", "use the other file"), PermissionAnswer("no"))
    house = House(tmp_path, "ask", face)
    assert house.ask(EDIT, "src/a.py").allowed
    rules = ("edit_file(=src/a.py)",)
    assert face.asked[0] == PermissionQuestion("edit_file", "src/a.py", "preview of src/a.py", rules, call_id="c1")
    assert house.ask(EDIT, "src/b.py").reason.endswith("the user said no: use the other file")
    assert "not run" in house.ask(BASH, "x").reason
    assert house.kept == []


def test_always_is_remembered_and_not_asked_again(tmp_path: Path) -> None:
    face = Face(PermissionAnswer("always"))
    house = House(tmp_path, "ask", face)
    assert house.ask(BASH, "pytest -x").allowed
    assert house.ask(BASH, "pytest tests && pytest").allowed
    assert len(face.asked) == 1
    assert house.kept == ["bash(pytest ...)"]


def test_always_for_what_cannot_be_remembered_is_yes_once(tmp_path: Path) -> None:
    face = Face(PermissionAnswer("always"), PermissionAnswer("no"))
    house = House(tmp_path, "ask", face)
    assert house.ask(BASH, "echo $(date) > x").allowed
    assert face.asked[0].always == ()
    assert not house.ask(BASH, "echo $(date) > x").allowed
    assert house.kept == []


def test_always_for_a_line_of_several_commands_remembers_a_rule_for_each(tmp_path: Path) -> None:
    face = Face(PermissionAnswer("always"))
    house = House(tmp_path, "ask", face)
    assert house.ask(BASH, "pytest -x | tail -5").allowed
    assert house.ask(BASH, "tail -n 3 log").allowed
    assert house.kept == ["bash(pytest ...)", "bash(tail ...)"]


@pytest.mark.parametrize("line", ["cat notes", "head -5 docs/x", "grep -n x docs/x", "ls | wc -l notes"])
def test_always_for_a_look_into_the_workspace_does_not_follow_links_out_of_it(tmp_path: Path, line: str) -> None:
    (root := tmp_path / "work").mkdir()
    (tmp_path / "x").write_text("secret")
    (root / "notes").symlink_to(tmp_path / "x")
    (root / "docs").symlink_to(tmp_path)
    (root / "own").symlink_to(root / "file")
    face = Face(PermissionAnswer("no"))
    rules = [f"bash({name} ...)" for name in ("cat", "head", "grep", "ls", "wc")]
    house = House(root, "ask", face, allow=rules)
    assert house.ask(BASH, "cat own file | wc -l").allowed
    assert not house.ask(BASH, line).allowed
    assert face.asked[0].always == (f"bash(={line})",)


def test_questions_come_one_at_a_time_and_always_answers_the_next(tmp_path: Path) -> None:
    face = Face(PermissionAnswer("always"))
    house = House(tmp_path, "ask", face)

    async def both() -> list[Verdict]:
        calls = (house.gate.allows(BASH, Given(line), house.context) for line in ("pytest a", "pytest b"))
        return await asyncio.gather(*calls)

    assert [verdict.allowed for verdict in asyncio.run(both())] == [True, True]
    assert len(face.asked) == 1


def test_without_anyone_to_ask_the_answer_is_no_and_names_what_would_allow_it(tmp_path: Path) -> None:
    refused = House(tmp_path).ask(BASH, "pytest -x")
    assert refused.denial == Denial("unasked", ("bash(pytest ...)",), "bypass")
    assert "there is no one to ask" in refused.reason
    assert "bash(pytest ...)" in refused.reason
    assert House(tmp_path).ask(EDIT, "a.py").denial.mode == "accept-edits"
    assert House(tmp_path, allow=["bash(pytest ...)"]).ask(BASH, "pytest -x").allowed


@pytest.mark.parametrize("line", ["echo $(date) > x", "rm " + "x" * 5_000])
def test_what_has_no_short_rule_is_not_answered_with_a_wide_one(tmp_path: Path, line: str) -> None:
    refused = House(tmp_path).ask(BASH, line)
    assert refused.denial == Denial("unasked", (), "bypass")
    assert "rule" not in refused.reason
    assert len(refused.reason) < 400


@pytest.mark.parametrize("command", ["ls", "pwd", "git status", "git diff --output=x"])
def test_no_command_is_free_by_itself(tmp_path: Path, command: str) -> None:
    """Even `git status` runs what the repository's configuration names."""
    assert not House(tmp_path).ask(BASH, command).allowed


def test_a_mode_that_nobody_knows_is_asked_about(tmp_path: Path) -> None:
    unknown: Any = "yolo"
    assert not House(tmp_path, unknown).ask(BASH, "ls").allowed
    assert not House(tmp_path, unknown).ask(EDIT, "x").allowed
