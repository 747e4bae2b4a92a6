"""Commands that users write: `NAME.md` in `.outlive/commands` or `.claude/commands`, of the user or of the project.

`/NAME words` puts the text of the file beside the user's words. A file in a folder below is `/FOLDER:NAME`. Those of
a project count after `outlive trust`, as they are then. A file grants nothing: `allowed-tools` and shell commands in
it are ignored, and that is said.
"""

import os
import re
import shlex
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from outlive.config.home import home, trusted
from outlive.regular import read_regular, real_path
from outlive.tools.frontmatter import frontmatter

FOLDERS = (".outlive/commands", ".claude/commands")
MAX_COMMANDS = 200
"""Commands of one folder."""
MAX_DEPTH = 3  # levels of folders; deeper commands are not found
MAX_FILE_BYTES = 64 * 1024  # a prompt is rarely larger; the file is left out
MAX_ABOUT_CHARS = 200  # a line of the menu
KEPT_SECONDS = 2.0
"""Seconds for which the files are not read again."""
_NAME = re.compile(r"[A-Za-z0-9_][\w-]{0,63}(?::[\w-]{1,64}){0,3}")
_PLACE = re.compile(r"\$(ARGUMENTS\b|[1-9](?!\d))")
_SHELL = re.compile(r"!`[^`\n]+`")


class CustomCommand(Struct, frozen=True):
    """One command. `ignored` says which of its wishes do not count."""

    name: str
    path: Path
    about: str
    hint: str
    """What the arguments are."""
    model: str
    text: str
    ignored: tuple[str, ...]

    def filled(self, words: str) -> str:
        """The text with `$ARGUMENTS` and `$1` to `$9` replaced; without these, with the arguments below."""
        try:
            parts = shlex.split(words)
        except ValueError:
            parts = words.split()

        def value(match: re.Match[str]) -> str:
            if match[1] == "ARGUMENTS":
                return words
            return parts[int(match[1]) - 1] if int(match[1]) <= len(parts) else ""

        text, places = _PLACE.subn(value, self.text)
        return text if places or not words else f"{text}\n\nArguments: {words}"


class ProjectCommands:
    """The commands that came with a project, and whether the user trusts them as they are."""

    def __init__(self, root: Path) -> None:
        self.path = root / FOLDERS[0]
        """Names them where trust is kept."""
        files = [file for folder in FOLDERS for file in _files(root / folder, root)]
        self.commands = _named(files)
        self.places = [name for name in FOLDERS if any(path.is_relative_to(root / name) for _, path, _ in files)]
        """The folders that have some."""
        parts = (f"{path.relative_to(root)}\0{sha256(raw).hexdigest()}" for _, path, raw in files)
        self.digest = sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest() if files else ""

    @property
    def trusted(self) -> bool:
        return bool(self.digest) and trusted(self.path, self.digest)

    def lines(self) -> list[str]:
        """One line for each command, for the question whether to trust them."""
        return [f"command /{name} puts {command.path} into your prompt" for name, command in self.commands.items()]


class CustomCommands:
    """The commands that a user can type in a project. The user's own come first."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read_at = float("-inf")
        self._found: dict[str, CustomCommand] = {}
        self._untrusted: dict[str, CustomCommand] = {}

    def found(self) -> dict[str, CustomCommand]:
        """The commands that count, by name."""
        self._read()
        return self._found

    def untrusted(self, name: str) -> CustomCommand | None:
        """A command of the project that does not count because the user does not trust it."""
        self._read()
        return self._untrusted.get(name)

    def _read(self) -> None:
        if time.monotonic() - self._read_at < KEPT_SECONDS:
            return
        folders = (home() / "commands", Path.home() / FOLDERS[1])
        mine = _named([file for folder in folders for file in _files(folder, None)])
        theirs = ProjectCommands(self._root)
        self._found = {**theirs.commands, **mine} if theirs.trusted else mine
        self._untrusted = {} if theirs.trusted else theirs.commands
        self._read_at = time.monotonic()


def _files(folder: Path, within: Path | None) -> list[tuple[str, Path, bytes]]:
    """Name, path and content of the command files in a folder; no link leads out of `within`."""
    if within is not None and not real_path(folder).is_relative_to(real_path(within)):
        return []
    found: list[tuple[str, Path, bytes]] = []
    for path in _markdown(folder):
        name = ":".join(path.relative_to(folder).with_suffix("").parts)
        if _NAME.fullmatch(name) and len(found) < MAX_COMMANDS:
            try:
                found.append((name, path, read_regular(path, MAX_FILE_BYTES, follow=within is None)))
            except OSError:
                continue
    return found


def _markdown(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        deep = len(Path(here).relative_to(folder).parts) >= MAX_DEPTH
        folders[:] = [] if deep else sorted(folders)[:MAX_COMMANDS]
        yield from (Path(here, name) for name in sorted(files) if name.endswith(".md"))


def _named(files: Sequence[tuple[str, Path, bytes]]) -> dict[str, CustomCommand]:
    """Commands by name; the first of a name counts."""
    found: dict[str, CustomCommand] = {}
    for name, path, raw in files:
        found.setdefault(name, _command(name, path, raw.decode("utf-8", "replace")))
    return found


def _command(name: str, path: Path, text: str) -> CustomCommand:
    try:
        head, body = frontmatter(text)
    except ValueError:
        head, body = {}, text
    about = head.get("description") or next((line.strip("# ") for line in body.splitlines() if line.strip()), "")
    ignored = ["allowed-tools"] if head.get("allowed-tools") else []
    ignored += ["commands of the shell (!`…`)"] if _SHELL.search(body) else []
    return CustomCommand(
        name,
        path,
        about[:MAX_ABOUT_CHARS],
        head.get("argument-hint", "")[:MAX_ABOUT_CHARS],
        head.get("model", ""),
        body.strip(),
        tuple(ignored),
    )
