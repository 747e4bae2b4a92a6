"""Where tools may go: the workspace and what the user added to it. Symlinks and `..` lead nowhere else."""

from collections.abc import Iterable
from pathlib import Path


class Fence:
    """The folders that tools may touch."""

    def __init__(self, root: Path, extra: Iterable[Path] = ()) -> None:
        self.root = root.resolve()
        self.extra = tuple(path.resolve() for path in extra)

    def inside(self, path: str) -> Path:
        """The real path of what a call names. Raises ToolError when it lies outside."""
        raise NotImplementedError
