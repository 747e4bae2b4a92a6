"""The parser of command lines, imported on first use: most commands of outlive never need it."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node


@cache
def _language() -> "Language":
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def parse(source: bytes) -> "Node":
    """The root of the syntax tree. The caller bounds the source."""
    from tree_sitter import Parser

    return Parser(_language()).parse(source).root_node
