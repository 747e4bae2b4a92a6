"""Completion in the input: slash commands at the start, files after `@`, paths on Tab."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from outlive.cli.chat.input.file_search import FileSearch
from outlive.cli.chat.slash.base import COMMANDS
from outlive.cli.chat.words import short_session
from outlive.models.effort import EFFORTS
from outlive.printable import one_line
from outlive.stores.logs.protocol import SessionInfo
from outlive.tools.custom_commands import CustomCommand
from outlive.tools.permissions.asking import MODES

MAX_COMPLETIONS = 40  # a menu shows few at a time; typing on narrows it
MAX_ENTRIES = 5000
"""Entries of a folder that are looked at."""


class ChatCompleter(Completer):
    """Completes commands and the files below `root`."""

    def __init__(
        self,
        root: Path,
        sessions: Callable[[], Iterable[SessionInfo]] = tuple,
        own: Callable[[], Mapping[str, CustomCommand]] = dict,
    ) -> None:
        """`own` are the commands that the user wrote."""

        self.root = root
        self._sessions = sessions
        self._own = own
        self._search = FileSearch(root)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in before and "/" not in before.split(" ")[0][1:]:
            return self._commands(before[1:])
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        if word.startswith("@"):
            return self._mentioned(word[1:])
        if complete_event.completion_requested and word:
            return self._paths(word)
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """The same, with files looked up in a thread: a project may be large."""
        mentions = document.text_before_cursor.rpartition(" ")[2].startswith("@")
        found = self.get_completions(document, complete_event)
        for completion in await asyncio.to_thread(list, found) if mentions else found:
            yield completion

    def _commands(self, text: str) -> Iterator[Completion]:
        name, space, rest = text.partition(" ")
        if not space:
            for command in COMMANDS.values():
                if command.name.startswith(name):
                    yield Completion(command.name, -len(name), display=command.usage, display_meta=command.about)
            for own in self._own().values():
                if own.name.startswith(name) and own.name not in COMMANDS:
                    shown = one_line(f"/{own.name} {own.hint}")
                    yield Completion(own.name, -len(name), display=shown, display_meta=one_line(own.about))
        elif name == "mode":
            yield from (Completion(mode, -len(rest)) for mode in MODES if mode.startswith(rest))
        elif name == "model" and (word := rest.rpartition(" ")[2]):
            yield from (Completion(effort, -len(word)) for effort in EFFORTS if effort.startswith(word))
        elif name == "resume":
            for info in self._sessions():
                short = short_session(info.id)
                if short.startswith(rest) and short.isprintable():
                    yield Completion(short, -len(rest), display_meta=one_line(info.title))
        elif name in ("export", "add-dir") and rest:
            yield from self._paths(rest)

    def _mentioned(self, text: str) -> Iterator[Completion]:
        """Yield paths that start with the text, then those that match it anywhere; what git ignores comes last."""
        folder = text.rpartition("/")[0]
        direct = [
            f"{folder}/{one.text}" if folder else one.text for one in islice(self._paths(text), MAX_COMPLETIONS)
        ]
        outside = text.startswith(("/", "~", "."))
        near = self._search.find(text, MAX_COMPLETIONS) if len(text) >= 2 and not outside else []
        found = dict.fromkeys([*direct, *near])
        for path in sorted(found, key=lambda path: not outside and self._search.is_ignored(path)):
            if path.isprintable():
                yield Completion(f'"{path}"' if " " in path else path, -len(text), display=one_line(path))

    def _paths(self, text: str) -> Iterator[Completion]:
        folder, _, start = text.rpartition("/")
        base = Path(os.path.expanduser(folder + "/")) if text.startswith(("/", "~")) else self.root / folder
        try:
            entries = sorted(islice(os.scandir(base), MAX_ENTRIES), key=lambda entry: entry.name)
        except (OSError, ValueError):
            return
        for entry in entries:
            hidden = entry.name.startswith(".") and not start.startswith(".")
            if not hidden and entry.name.startswith(start) and entry.name.isprintable():
                name = entry.name + ("/" if _is_folder(entry) else "")
                yield Completion(name, -len(start), display=(folder + "/" if folder else "") + name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
