"""docs/terminal.md lists the keys and commands there are. `python -m tests.cli.chat.test_docs` writes them."""

import re

from outlive.cli.chat.slash import COMMANDS
from outlive.cli.chat.slash.look import KEYS
from tests.engines import ROOT

PAGE = ROOT / "docs" / "terminal.md"


def page(text: str) -> str:
    """The page as it should be."""
    keys = [(f"{key}".replace("|", "\\|"), about) for key, about in KEYS]
    commands = [(f"`{one.usage}`".replace("|", "\\|"), one.about) for one in COMMANDS.values()]
    for name, rows in (("key", keys), ("command", commands)):
        table = "".join(f"| {left} | {right} |\n" for left, right in rows)
        head = f"| {name} | does |\n|---|---|\n"
        text = re.sub(re.escape(head) + r"(?:\|.*\n)*", lambda _, new=head + table: new, text)  # type: ignore[misc]
    return text


def test_the_page_lists_the_keys_and_commands_there_are() -> None:
    text = PAGE.read_text()
    assert text == page(text), "run: python -m tests.cli.chat.test_docs"
    assert all(f"`{one.usage}`".replace("|", "\\|") in text for one in COMMANDS.values())


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
