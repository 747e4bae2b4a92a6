"""Large pastes appear in the input as `[pasted 153 lines]` and are sent in full."""

from outlive.cli.chat.words import counted

FOLDED_PASTE_CHARS = 2000  # a longer paste is shown as one line, so that the question stays on the screen


class Pastes:
    """The large pastes of one message."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def shown(self, text: str) -> str:
        """Return the text to insert into the input for a paste."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if len(text) <= FOLDED_PASTE_CHARS:
            return text.rstrip("\n")
        lines = text.count("\n") + (not text.endswith("\n"))
        size = counted(lines, "line") if lines > 1 else counted(len(text), "character")
        name, number = f"[pasted {size}]", 1
        while self._texts.get(name, text) != text:
            number += 1
            name = f"[pasted {size} #{number}]"
        self._texts[name] = text
        return name

    def whole(self, words: str) -> str:
        """Return a message with every paste in full."""
        for name, text in self._texts.items():
            words = words.replace(name, text)
        return words

    def clear(self) -> None:
        self._texts.clear()
