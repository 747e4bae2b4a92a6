"""Completion in the input: slash commands at the start, files after `@`, paths on Tab."""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from outlive.cli.chat.slash.base import COMMANDS
from outlive.cli.chat.words import short_session
from outlive.printable import one_line
from outlive.stores.logs.protocol import SessionInfo
from outlive.tools.permissions.asking import MODES

MAX_COMPLETIONS = 40
MAX_FILES_SCANNED = 5000
"""Files looked at for `@name`."""
_SKIPPED = {"node_modules", "__pycache__", "venv", "dist", "build", "target"}


class ChatCompleter(Completer):
    """Completes commands and the files below `root`."""

    def __init__(self, root: Path, sessions: Callable[[], Iterable[SessionInfo]] = tuple) -> None:
        self.root = root
        self._sessions = sessions

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in before and "/" not in before[1:]:
            return self._commands(before[1:])
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        if word.startswith("@"):
            return self._mentioned(word[1:])
        if complete_event.completion_requested and word:
            return self._paths(word)
        return ()

    def _commands(self, text: str) -> Iterator[Completion]:
        name, space, rest = text.partition(" ")
        if not space:
            for command in COMMANDS.values():
                if command.name.startswith(name):
                    yield Completion(command.name, -len(name), display=command.usage, display_meta=command.about)
        elif name == "mode":
            yield from (Completion(mode, -len(rest)) for mode in MODES if mode.startswith(rest))
        elif name == "resume":
            for info in self._sessions():
                short = short_session(info.id)
                if short.startswith(rest) and short.isprintable():
                    yield Completion(short, -len(rest), display_meta=one_line(info.title))
        elif name == "export" and rest:
            yield from self._paths(rest)

    def _mentioned(self, text: str) -> Iterator[Completion]:
        """Yield paths that start with the text, then files anywhere whose path contains it."""
        found = list(islice(self._paths(text), MAX_COMPLETIONS))
        yield from found
        if len(text) < 2 or "/" in text:
            return
        direct = {completion.text for completion in found}
        wanted = text.casefold()
        names = (name for name in self._files() if wanted in name.casefold() and name not in direct)
        for name in sorted(islice(names, MAX_COMPLETIONS - len(found)), key=lambda name: (len(name), name)):
            yield Completion(name, -len(text), display=one_line(name))

    def _paths(self, text: str) -> Iterator[Completion]:
        folder, _, start = text.rpartition("/")
        base = Path(os.path.expanduser(folder + "/")) if text.startswith(("/", "~")) else self.root / folder
        try:
            entries = sorted(islice(os.scandir(base), MAX_FILES_SCANNED), key=lambda entry: entry.name)
        except (OSError, ValueError):
            return
        for entry in entries:
            hidden = entry.name.startswith(".") and not start.startswith(".")
            if not hidden and entry.name.startswith(start) and entry.name.isprintable():
                name = entry.name + ("/" if _is_folder(entry) else "")
                yield Completion(name, -len(start), display=(folder + "/" if folder else "") + name)

    def _files(self) -> Iterator[str]:
        seen = 0
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
            for name in sorted(files):
                seen += 1
                if seen > MAX_FILES_SCANNED:
                    return
                if not name.startswith(".") and name.isprintable():
                    yield os.path.relpath(os.path.join(folder, name), self.root)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
