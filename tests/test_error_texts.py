"""Error texts name a safe way out. A model follows what it reads, so none of them offers a destructive one."""

import ast
from collections.abc import Iterator

import pytest

from tests.test_architecture import MODULES

DESTRUCTIVE = ("--force", "rm -", "--hard", "git clean", "git reset", "--no-verify", "drop table")
LOSING = ("remove it", "delete it", "overwrite it", "remove the file", "delete the file")
"""As advice about a file that cannot be read: it can be moved aside instead."""


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """All strings but docstrings, single words, and what declares an option or shows how to use a command."""
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))  # describes the attribute above it
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.body and isinstance(node.body[0], ast.Expr):
                left_out.update(map(id, ast.walk(node.body[0])))
            for decorator in getattr(node, "decorator_list", ()):
                left_out.update(map(id, ast.walk(decorator)))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in left_out:
            continue
        if isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


@pytest.mark.parametrize("module", MODULES)
def test_no_text_offers_a_destructive_way_out(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text())
    found = [
        (line, text)
        for line, text in texts(tree)
        if any(words in text.casefold() for words in (*DESTRUCTIVE, *LOSING))
    ]
    assert not found, f"{module}: name a safe way first (look, doctor, move aside, another name): {found}"


def test_the_rule_would_notice_one() -> None:
    code = 'def f(x):\n    """Takes --force."""\n    raise E(f"task {x} is held; use --force")\nOPTION = "--force"'
    tree = ast.parse(code)
    assert list(texts(tree)) == [(3, " is held; use --force")], "a docstring, a word and an option are left out"
