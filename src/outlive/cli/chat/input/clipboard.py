"""The image in the clipboard, through the tool that the desktop has."""

import asyncio
import os
import shutil
from contextlib import suppress

from outlive.errors import OutliveError
from outlive.tools.files.images import MAX_IMAGE_BYTES

SECONDS = 3.0  # a clipboard whose owner hangs must not block the input
_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")),
    ("", ("pngpaste", "-")),
)
"""Variable that says the tool can work, and its command line."""


class NoClipboardImage(OutliveError):
    """There is no image to paste."""


async def clipboard_image() -> bytes:
    """The image in the clipboard. Raises NoClipboardImage."""
    tools = [
        line for variable, line in _TOOLS if (not variable or os.environ.get(variable)) and shutil.which(line[0])
    ]
    if not tools:
        raise NoClipboardImage("pasting an image needs wl-paste (wl-clipboard), xclip or pngpaste; or paste its path")
    for line in tools:
        if raw := await _output(line):
            return raw
    raise NoClipboardImage("there is no image in the clipboard")


async def _output(line: tuple[str, ...]) -> bytes:
    """What the tool prints, up to a little more than an image may have; nothing if it fails or takes too long."""
    process = await asyncio.create_subprocess_exec(
        *line,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=MAX_IMAGE_BYTES + 2,
    )
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    raw = b""
    try:
        async with asyncio.timeout(SECONDS):
            while len(raw) <= MAX_IMAGE_BYTES and (part := await process.stdout.read(1 << 16)):
                raw += part
            return raw if len(raw) > MAX_IMAGE_BYTES or await process.wait() == 0 else b""
    except TimeoutError:
        return b""
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
