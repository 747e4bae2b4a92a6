"""What bash really makes of a line: every program, builtin or not, only writes down its arguments."""

import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from outlive.tools.permissions.sandbox import shell

_KEPT = ("builtin", "printf")
"""Builtins that the recording itself is made with; lines that use them are not for this."""


@dataclass
class RealBash:
    """A bash without programs, in which what would run is recorded. Nothing is changed but the log."""

    log: Path

    def __post_init__(self) -> None:
        names = subprocess.run(
            [shell(), "-c", "compgen -b"], capture_output=True, text=True, check=True
        ).stdout.split()
        functions = [f'function {name} {{ __note {name} "$@"; }}' for name in names if name not in _KEPT]
        # A log for each process: the commands of a pipe run at once.
        self.prologue = "\n".join(
            [
                f"__note() {{ builtin printf '%s\\0' \"$#\" \"$@\" >> '{self.log}'.$BASHPID; }}",
                'command_not_found_handle() { __note "$@"; }',
                "set -f",
                *functions,
            ]
        )

    def run(self, line: str) -> Counter[tuple[str, ...]]:
        """The commands that run, with all of their arguments."""
        for log in self._logs():
            log.unlink()
        subprocess.run(
            [shell(), "-c", f"{self.prologue}\n{line}"],
            env={"PATH": "/nonexistent", "HOME": "/nonexistent"},
            cwd=self.log.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        found = Counter[tuple[str, ...]]()
        for log in self._logs():
            parts, at = log.read_bytes().decode().split("\0"), 0
            while at < len(parts) - 1:
                size = int(parts[at])
                found[tuple(parts[at + 1 : at + 1 + size])] += 1
                at += 1 + size
        return found

    def _logs(self) -> list[Path]:
        return list(self.log.parent.glob(f"{self.log.name}.*"))
