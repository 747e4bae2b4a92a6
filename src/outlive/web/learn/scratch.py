"""Scratch folders, one for each visitor of the lessons.

The lessons change things without `--control`. That is safe because of one rule: what serves them is given a
`Scratch`, found by a random id, and neither workspaces nor paths. All it can touch is the folder made for it.
"""

import os
import re
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from outlive.web.api import HttpProblem, bad_request
from outlive.web.learn.graph import GraphLesson
from outlive.web.learn.quiz.quiz import Quiz
from outlive.web.learn.survival import SurvivalLesson

MOST_VISITORS = 24  # each has stores and workers of its own
LONGEST_IDLE = 3 * 3600.0
"""Seconds after which a folder is removed, when another visitor comes."""
PREFIX = "outlive-learn-"
"""Of temporary folders; the number of the process follows."""
_ID = re.compile(r"[0-9a-f]{32}")


class Scratch:
    """What one visitor has: a folder, and a lesson in it at a time of each kind. Use it with `lock` held."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.Lock()
        self.used = time.monotonic()
        self.graph: GraphLesson | None = None
        self.survival: SurvivalLesson | None = None
        self.quiz = Quiz()

    def restart_graph(self) -> GraphLesson:
        """A new graph, in place of the one before."""
        if self.graph is not None:
            self.graph.close()
        self.graph = GraphLesson(self._emptied("graph"))
        return self.graph

    def restart_survival(self) -> SurvivalLesson:
        """A new session, in place of the one before."""
        if self.survival is not None:
            self.survival.close()
        self.survival = SurvivalLesson(self._emptied("survival"))
        return self.survival

    def close(self) -> None:
        with self.lock:
            for lesson in (self.graph, self.survival):
                if lesson is not None:
                    lesson.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _emptied(self, name: str) -> Path:
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        return folder


class Scratches:
    """The scratch folders of one server, in one temporary folder that is removed when the server ends."""

    def __init__(self) -> None:
        sweep()
        self._base: Path | None = None
        self._known: OrderedDict[str, Scratch] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, visitor: str) -> Scratch:
        """The folder of a visitor, made when there is none. Raises HttpProblem for what is not an id."""
        if not _ID.fullmatch(visitor):
            raise bad_request("the id of a visitor has 32 hexadecimal digits")
        with self._lock:
            gone = self._outdated(visitor)
            scratch = self._known.pop(visitor, None) or self._made()
            scratch.used = time.monotonic()
            self._known[visitor] = scratch
        for old in gone:
            old.close()
        return scratch

    def close(self) -> None:
        with self._lock:
            known, base = list(self._known.values()), self._base
            self._known.clear()
            self._base = None
        for scratch in known:
            scratch.close()
        if base is not None:
            shutil.rmtree(base, ignore_errors=True)

    def _outdated(self, visitor: str) -> list[Scratch]:
        """Take out those that were not used for long, and the oldest if there are too many beside this visitor."""
        limit = time.monotonic() - LONGEST_IDLE
        others = [known for known in self._known if known != visitor]
        idle = [known for known in others if self._known[known].used < limit]
        kept = [known for known in others if known not in idle]
        surplus = kept[: max(len(kept) - MOST_VISITORS + 1, 0)]
        return [self._known.pop(known) for known in (*idle, *surplus)]

    def _made(self) -> Scratch:
        if self._base is None:
            self._base = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        return Scratch(Path(tempfile.mkdtemp(dir=self._base)))


def sweep() -> None:
    """Remove what servers that were killed have left behind. Only folders of this user, whose process is gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        process = folder.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError):
            is_ours = not folder.is_symlink() and folder.lstat().st_uid == os.getuid()
            if is_ours and process.isascii() and process.isdigit() and not _is_alive(int(process)):
                shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def not_started(lesson: str) -> HttpProblem:
    """The lesson was not begun on this server, or the server was started again since."""
    return HttpProblem(404, f"the lesson {lesson!r} has no scratch store yet", hint="start it", code="not_started")
