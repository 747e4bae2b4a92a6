"""Markdown for the terminal: plain headings, indented code in the terminal's own colours."""

from functools import cache
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, HorizontalRule, Markdown, MarkdownElement
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from outlive.cli.chat.render.paint import ThemedConsole
from outlive.printable import clean

THEME = "ansi_dark"
MAX_MARKDOWN_CHARS = 32_000
"""Characters; a longer block is shown as plain text, because some Markdown would take many seconds to parse."""


class _Code(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        theme = console.code_theme if isinstance(console, ThemedConsole) else THEME
        syntax = Syntax(code, self.lexer_name, theme=theme, word_wrap=True, background_color="default")
        yield Padding(syntax, (0, 0, 0, 2))


class _Heading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text.assemble((f"{'#' * int(self.tag[1:])} ", "quiet"), self.text)


class _Rule(HorizontalRule):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Rule(style="markdown.hr", characters="─")


class Prose(Markdown):
    """Markdown of a model. Links show their address."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Heading,
        "hr": _Rule,
    }

    def __init__(self, text: str) -> None:
        text = clean(text)
        super().__init__("", code_theme=THEME, hyperlinks=False)
        self.markup = text
        self.parsed = _parser().parse(text) if len(text) <= MAX_MARKDOWN_CHARS else []
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":
                    child.type = "hardbreak"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if len(self.markup) > MAX_MARKDOWN_CHARS:
            return iter([Text(self.markup.strip())])
        return super().__rich_console__(console, options)


@cache
def _parser() -> MarkdownIt:
    """Return a parser that hides nothing: HTML tags, images and link definitions stay visible as text."""
    parser = MarkdownIt("commonmark", {"html": False})
    return parser.enable(["strikethrough", "table"]).disable(["html_block", "html_inline", "image", "reference"])
