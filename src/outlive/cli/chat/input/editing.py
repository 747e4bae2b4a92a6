"""The prompt in the user's own editor: `$VISUAL`, `$EDITOR`, or one that is installed."""

import asyncio
import os
import shlex
import shutil
import tempfile
from pathlib import Path

from outlive.errors import OutliveError
from outlive.regular import MIB, read_regular

MAX_BYTES = 4 * MIB
USUAL_EDITORS = ("nano", "vim", "vi")


class EditorFailed(OutliveError):
    """The editor could not be started, or it did not end well; the prompt stays as it was."""


def editor() -> list[str]:
    """The command of the user's editor. Raises EditorFailed if there is none."""
    wanted = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        words = shlex.split(wanted)
    except ValueError as error:
        raise EditorFailed(f"the editor {wanted!r} cannot be read as a command: {error}") from None
    words = words or [name for name in USUAL_EDITORS if shutil.which(name)][:1]
    if not words:
        raise EditorFailed("there is no editor: set VISUAL or EDITOR")
    return words


async def edited(text: str) -> str:
    """The text after the user edited it. The file is readable by its owner only, and removed."""
    command = editor()
    folder = Path(tempfile.mkdtemp(prefix="outlive-"))
    try:
        file = folder / "prompt.md"
        file.touch(mode=0o600)
        file.write_text(text + "\n" if text else "", encoding="utf-8", errors="replace")
        await _run([*command, str(file)])
        try:
            return read_regular(file, MAX_BYTES).decode("utf-8", "replace").removesuffix("\n")
        except OSError as error:
            raise EditorFailed(f"what the editor wrote cannot be read: {error}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _run(command: list[str]) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*command)
    except OSError as error:
        raise EditorFailed(f"the editor {command[0]!r} cannot be started: {error.strerror}") from None
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        raise
    if code:
        raise EditorFailed(f"the editor {command[0]!r} ended with exit code {code}; the prompt is as it was")
