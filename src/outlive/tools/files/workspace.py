"""The files of a folder without those that git ignores. git is not run: a repository's configuration can name
programs. Symlinks are listed, never followed."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from outlive.config.git import git_folders, read_or_nothing
from outlive.tools.files.ignore import MAX_FILE_BYTES, IgnoreRules
from outlive.tools.permissions.fence import HARNESS_PATHS

MAX_FILES = 200_000  # the listing says that it was cut
MAX_WORK = 40_000_000
"""Bytes of names times the ignore files that apply (a very long file counts more)."""
IGNORE_FILE_WORK = 500
"""The work that reading one ignore file counts as."""
MAX_RULES = 2**20
"""States of the ignore files that apply in a folder; beyond that, ignore files further down are skipped."""
_EXCLUDES_FILE = re.compile(rb'^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$', re.IGNORECASE | re.MULTILINE)
_Chain = tuple[tuple[IgnoreRules, int], ...]
"""The ignore files that apply in a folder, strongest last, each with its state after the folder's path."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Files below a folder, and whether the search was cut short."""

    files: list[Path]
    cut_short: bool = False

    @property
    def note(self) -> str:
        """A note that files were left out, or nothing."""
        return f"[only {len(self.files):,} files were looked at; give a folder as path]" if self.cut_short else ""


def files_below(folder: Path, *, most: int = MAX_FILES, work: int = MAX_WORK) -> Listing:
    """The files below `folder`, without those of git and outlive themselves, and bounded.

    In a repository ignored files are left out too, unless that leaves nothing: then the ignored ones were meant.
    """
    chain = _rules_above(folder)
    listing = _Walk(folder, most, work).run(chain)
    return listing if listing.files or not chain else _Walk(folder, most, work).run(())


class _Walk:
    """One walk through a folder, which ends when too much was found or compared."""

    def __init__(self, folder: Path, most: int, work: int) -> None:
        self._folder = folder
        self._most = most
        self._work = work

    def run(self, chain: _Chain | None) -> Listing:
        files = list(islice(self._below(chain), self._most + 1))
        return Listing(files[: self._most], self._work < 0 or len(files) > self._most)

    def _below(self, chain: _Chain | None) -> Iterator[Path]:
        """The files in order, without recursion; `chain` is None where nothing is ignored."""
        waiting = [(str(self._folder), chain)]
        while waiting and self._work >= 0:
            here, chain = waiting.pop()
            entries = _entries(here)
            self._work -= len(entries)
            if here != str(self._folder):
                chain = self._entered(here, chain, {entry.name for entry in entries})
            folders = []
            for entry in entries:
                if entry.name == ".git" or (here == str(self._folder) and entry.name in HARNESS_PATHS):
                    continue
                folder = entry.is_dir(follow_symlinks=False)
                below = chain
                if chain is not None:
                    name = os.fsencode(entry.name)
                    self._work -= len(name) * (len(chain) + _size(chain) // 4096)
                    below = _unless_ignored(chain, name, folder=folder)
                    if below is None:
                        continue
                if folder:
                    folders.append((entry.path, below))
                else:
                    yield Path(entry.path)
            waiting += reversed(folders)

    def _entered(self, here: str, chain: _Chain | None, names: set[str]) -> _Chain | None:
        """The rules inside a folder; a nested repository has only its own."""
        if chain is None:
            return None
        if ".git" in names:
            chain = _outermost(Path(here))
        if ".gitignore" not in names or _size(chain) > MAX_RULES:
            return chain
        found = _rules_in(here)
        self._work -= IGNORE_FILE_WORK + sum(rules.cost for rules, _ in found)
        return *chain, *found


def _unless_ignored(chain: _Chain, name: bytes, *, folder: bool) -> _Chain | None:
    """The chain below `name`; None if the strongest matching rule ignores it."""
    below: list[tuple[IgnoreRules, int]] = []
    decided = False
    for rules, state in reversed(chain):
        state = rules.advance(state, name)
        if not decided and (ignored := rules.verdict(state, folder=folder)) is not None:
            if ignored:
                return None
            decided = True
        if folder:
            below.append((rules, rules.advance(state, b"/")))
        elif decided:
            break
    return tuple(reversed(below))


def _size(chain: _Chain) -> int:
    return sum(rules.size for rules, _ in chain)


def _rules_above(folder: Path) -> _Chain | None:
    """The rules that apply inside `folder`; None outside git, or if the folder itself is ignored."""
    top = next((above for above in (folder, *folder.parents) if git_folders(above)), None)
    if top is None:
        return None
    chain = (*_outermost(top), *_rules_in(str(top)))
    here = top
    for name in folder.relative_to(top).parts:
        here /= name
        inside = _unless_ignored(chain, os.fsencode(name), folder=True)
        if inside is None:
            return None
        chain = (*inside, *_rules_in(str(here)))
    return chain


def _outermost(top: Path) -> _Chain:
    """The user's ignore file, then `info/exclude` of the repository."""
    folders = git_folders(top)
    return _chain(
        [_users_file(), read_or_nothing(folders.common / "info/exclude", MAX_FILE_BYTES) if folders else b""]
    )


def _rules_in(folder: str) -> _Chain:
    return _chain([read_or_nothing(Path(folder, ".gitignore"), MAX_FILE_BYTES)])


def _chain(texts: list[bytes]) -> _Chain:
    rules = [IgnoreRules(text) for text in texts if text]
    return tuple((rule, rule.start) for rule in rules if rule.size)


def _users_file() -> bytes:
    """The user's ignore file: core.excludesFile of the user's settings, else git's default."""
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    for settings in (home / ".gitconfig", config / "config"):
        if found := _EXCLUDES_FILE.findall(read_or_nothing(settings, MAX_FILE_BYTES, follow=True)):
            return read_or_nothing(home / os.path.expanduser(os.fsdecode(found[-1])), MAX_FILE_BYTES, follow=True)
    return read_or_nothing(config / "ignore", MAX_FILE_BYTES, follow=True)


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
