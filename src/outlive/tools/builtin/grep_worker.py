"""Searches files for a pattern without ripgrep, in a separate process, so that a pattern of exponential time can be
stopped. Prints the part of `rg --json` that grep.py reads; imports nothing of outlive.
"""

import json
import os
import re
import stat
import sys
from collections import deque

MAX_FILE_BYTES = 64 * 2**20
"""Bytes; larger files are reported and skipped."""


def main() -> int:
    """Takes `{"pattern", "ignore_case", "context", "files": [[shown, path], …]}` on stdin."""
    asked = json.load(sys.stdin)
    try:
        pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stderr.write(f"not a pattern: {error}")
        return 2
    for shown, path in asked["files"]:
        lines = _lines(shown, path)
        if lines is not None:
            _search(shown, lines, pattern, asked["context"])
    return 0


def _lines(shown: str, path: str) -> list[str] | None:
    try:
        state = os.lstat(path)
        if not stat.S_ISREG(state.st_mode):
            return None
        if state.st_size > MAX_FILE_BYTES:
            sys.stderr.write(f"{shown}: too large, not searched\n")
            return None
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        sys.stderr.write(f"{shown}: {error.strerror}\n")
        return None
    if b"\0" in raw[:8192]:
        return None
    lines = raw.decode("utf-8", "replace").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _search(shown: str, lines: list[str], pattern: "re.Pattern[str]", context: int) -> None:
    before: deque[tuple[int, str]] = deque(maxlen=context)
    after = 0
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        found = pattern.search(line)
        if found:
            for earlier in before:
                _say("context", shown, *earlier, 0)
            before.clear()
            _say("match", shown, number, line, found.start())
            after = context
        elif after:
            _say("context", shown, number, line, 0)
            after -= 1
        elif context:
            before.append((number, line))


def _say(kind: str, shown: str, number: int, line: str, start: int) -> None:
    at = len(line[:start].encode("utf-8", "replace"))
    data = {
        "path": {"text": shown},
        "lines": {"text": line},
        "line_number": number,
        "submatches": [{"start": at}] if kind == "match" else [],
    }
    print(json.dumps({"type": kind, "data": data}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
