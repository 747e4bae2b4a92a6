"""Errors carry data: a message, a hint, a code. The tree in `errors.py` is complete, and all of it is public."""

import ast
import importlib
import re

import click
import pytest

import outlive
from outlive import errors
from outlive.cli.app import cli
from outlive.cli.flags import HINTS, shown
from outlive.errors import BlockedError, OutliveError, UnknownTask
from outlive.limits import Limit
from tests.test_architecture import MODULES, room
from tests.test_error_texts import texts

FLAG = re.compile(r"(?<![\w-])--[a-z]")
COMMAND = re.compile(FLAG.pattern + rf"|\boutlive (?:{'|'.join(cli.list_commands(click.Context(cli)))})\b")
WITHOUT_COMMANDS = ("outlive.stores", "outlive.tasks", "outlive.memory")
TEXTS_WITH_COMMANDS = {
    "outlive.memory.index": "the last line of MEMORY.md says how to see the rest",
    "outlive.memory.prompt_block": "a shortened memory says how to read the rest",
    "outlive.memory.learning.candidate": "what was learned is told with the way to undo it",
}
"""Texts that are neither problems nor errors."""
FACES = ("outlive.cli", "outlive.clients", "outlive.mcp", "outlive.testing")
WITH_ERRORS_OF_THEIR_OWN = (*FACES, "outlive.work")
"""Rooms whose errors no caller of the library meets."""


def tree() -> dict[str, str]:
    """The names in the docstring, each with the one it hangs from."""
    above: list[str] = []
    found = {}
    for row in (errors.__doc__ or "").splitlines():
        if match := re.match(r"((?:│   |    )*)(?:[├└]── )(\w+)", row):
            depth = len(match[1]) // 4 + 1
            above[depth:] = [match[2]]
            found[match[2]] = above[depth - 1] if depth > 0 else ""
        elif row == "OutliveError":
            above = [row]
    return found


def classes(base: type[OutliveError] = OutliveError) -> set[type[OutliveError]]:
    found = {kind for kind in base.__subclasses__() if room(kind.__module__) not in WITH_ERRORS_OF_THEIR_OWN}
    return found.union(*map(classes, found))


@pytest.fixture(scope="module", autouse=True)
def everything() -> None:
    for module in MODULES:
        if room(module) not in FACES and not module.endswith("__main__"):
            importlib.import_module(module)


def test_the_tree_that_is_drawn_is_the_tree_there_is() -> None:
    there = {kind.__name__: kind.__bases__[0].__name__ for kind in classes() if kind.__module__.startswith("outlive")}
    assert tree() == there


def test_every_error_can_be_imported_from_the_package() -> None:
    assert [kind for kind in classes() if getattr(outlive, kind.__name__) is not kind] == []


def test_an_error_has_a_message_a_hint_and_a_code() -> None:
    error = UnknownTask("no task 7", hint="look again")
    assert (error.message, error.hint, error.code, str(error)) == (
        "no task 7",
        "look again",
        "unknown_task",
        "no task 7; look again",
    )
    assert str(OutliveError("plain")) == "plain"
    blocked = BlockedError("no", [3], code="other")
    assert (blocked.code, BlockedError("no", []).code, blocked.blocked_by) == ("other", "blocked", (3,))


def test_a_face_adds_its_own_words_for_a_code() -> None:
    assert shown(UnknownTask("no task 7")) == "no task 7; list them with: outlive task list --all"
    assert shown(OutliveError("plain")) == "plain"


def test_the_command_line_says_one_sentence_or_two() -> None:
    assert shown(OutliveError("it is held", hint="wait")) == "it is held; wait"
    assert shown(OutliveError("bad. Nothing was done", hint="mend it")) == "bad. Nothing was done. Mend it"
    assert shown(OutliveError("no. Did you mean 2?", hint="look")) == "no. Did you mean 2? Look"
    repair = OutliveError("it is bad", hint="a repair sets it right", code="repair_tasks")
    assert shown(repair) == "it is bad; a repair sets it right: outlive task doctor --repair", "its own hint stays"


def test_the_command_line_fills_in_the_data_of_an_error() -> None:
    stale = OutliveError("it is stale", hint="release it", code="stale_lease", id=7, owner="ann b")
    assert shown(stale) == "it is stale; release it: outlive task release 7 --owner 'ann b'"
    nothing = OutliveError("it is stale", hint="release it", code="stale_lease")
    assert shown(nothing) == "it is stale; release it: outlive task release ID --owner OWNER"
    braces = OutliveError("odd {name}", hint="see {this}", code="drop_dependencies", id="{a}")
    assert shown(braces) == "odd {name}; see {this}: outlive task update '{a}' DROPPED", "texts are no templates"


@pytest.mark.parametrize("module", [name for name in MODULES if room(name) not in FACES])
def test_no_error_of_the_library_speaks_of_flags(module: str) -> None:
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Raise):
            texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            assert [text for text in texts if isinstance(text, str) and FLAG.search(text)] == [], node.lineno


@pytest.mark.parametrize("module", [name for name in MODULES if room(name) in WITHOUT_COMMANDS])
def test_no_text_of_the_stores_and_their_rules_speaks_of_commands(module: str) -> None:
    found = [(line, text) for line, text in texts(ast.parse(MODULES[module].read_text())) if COMMAND.search(text)]
    assert [text for _, text in found if module not in TEXTS_WITH_COMMANDS] == [], f"{module}: give a code: {found}"


def test_the_rule_for_commands_would_notice_one() -> None:
    for text in ("fix it with --repair", "see: outlive task doctor", "`outlive memory undo` helps"):
        assert COMMAND.search(text), text
    assert not COMMAND.search("upgrade outlive to read it")


def test_every_code_with_a_flag_is_one_that_is_used() -> None:
    sources = "".join(path.read_text() for name, path in MODULES.items() if room(name) not in FACES)
    known = {kind.code for kind in classes()} | {kind.name for kind in Limit.__subclasses__()}
    assert [code for code in HINTS if code not in known and f'"{code}"' not in sources] == []
