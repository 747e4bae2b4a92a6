"""Images in the input: `[image 1: shot.png 120 KB]` in the text, the image itself with the message.

They come from the clipboard, or from a path that was pasted, dragged into the window or typed in full. A path may
lead anywhere, because the user gave it; only what is an image by its content counts.
"""

import os
import re
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from outlive.messages import Block, Image, Text
from outlive.origin import tagged
from outlive.printable import one_line
from outlive.regular import read_regular
from outlive.tools.files.images import MAX_IMAGE_BYTES, image, media_type, problem
from outlive.tools.files.open_files import size_text

MAX_IMAGES = 20
"""Images of one message."""
MAX_PASTE_CHARS = 20_000
"""Characters of a paste that is read as paths."""
_ENDING = r"\.(?:png|jpe?g|gif|webp)"
_PATH = re.compile(
    rf"""(?<!\S)(?:'(?P<single>(?:/|~/|file://)[^'\n]+{_ENDING})'|"(?P<double>(?:/|~/|file://)[^"\n]+{_ENDING})"|"""
    rf"""(?P<plain>(?:/|~/|file://)(?:\\.|[^\s'"\\])+{_ENDING}))(?!\S)""",
    re.IGNORECASE,
)


class InputImage(Struct, frozen=True):
    placeholder: str
    source: str
    """The path, or `the clipboard`."""
    image: Image


class InputImages:
    """The images of one message."""

    def __init__(self) -> None:
        self._taken: list[InputImage] = []
        self.problem = ""
        """Why the last image was not taken."""

    def add(self, raw: bytes, name: str, source: str) -> str:
        """Take an image; returns what stands for it in the text, or nothing, and then `problem` says why."""
        kind = media_type(raw)
        why = problem(raw, kind) if kind else "is not an image (PNG, JPEG, GIF or WebP)"
        if not why and len(self._taken) >= MAX_IMAGES:
            why = f"is one too many: a message takes {MAX_IMAGES} images"
        if why:
            self.problem = f"{one_line(name, 80)} {why}"
            return ""
        number = len(self._taken) + 1
        placeholder = f"[image {number}: {one_line(name, 80)} {size_text(len(raw))}]"
        self._taken.append(InputImage(placeholder, source, image(raw, kind)))
        return placeholder

    def pasted(self, text: str) -> str:
        """What stands for a paste that consists of paths of images; empty for any other paste."""
        if len(text) > MAX_PASTE_CHARS or not re.search(_ENDING, text, re.IGNORECASE):
            return ""
        for words in ([text.strip()], _words(text)):
            paths = [_path(word) for word in words]
            if paths and all(path is not None and path.is_file() for path in paths):
                shown = [self._read(path) for path in paths if path is not None]
                return " ".join(shown) if all(shown) else ""
        return ""

    def typed(self, text: str) -> str:
        """The text with every full path of an image replaced by what stands for the image."""

        def shown(match: re.Match[str]) -> str:
            quoted = match["single"] or match["double"]
            path = _path(quoted or re.sub(r"\\(.)", r"\1", match["plain"]))
            return (path is not None and path.is_file() and self._read(path)) or match[0]

        return _PATH.sub(shown, text)

    def as_paths(self, text: str) -> str:
        """The text with paths instead of images, for the history of the input."""
        for taken in self._taken:
            if taken.source.startswith("/"):
                text = text.replace(taken.placeholder, shlex.quote(taken.source))
        return text

    def blocks(self, text: str) -> tuple[Block, ...]:
        """The images that the text still shows, each after a line that says which it is."""
        found: list[Block] = []
        for taken in self._taken:
            if taken.placeholder in text:
                label = f"{taken.placeholder[1:].partition(':')[0]}: {one_line(taken.source, 400)}"
                found += [Text(tagged("attached-picture", label), "stdin"), taken.image]
        return tuple(found)

    def clear(self) -> None:
        self._taken.clear()
        self.problem = ""

    def _read(self, path: Path) -> str:
        known = next((taken.placeholder for taken in self._taken if taken.source == str(path)), "")
        try:
            return known or self.add(read_regular(path, MAX_IMAGE_BYTES, follow=True), path.name, str(path))
        except OSError as error:
            self.problem = f"{one_line(path.name, 80)}: {error.strerror}"
            return ""


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _path(word: str) -> Path | None:
    """The full path that a word of a paste names."""
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    try:
        path = Path(os.path.expanduser(word))
    except RuntimeError:
        return None
    return path if path.is_absolute() and "\0" not in word and "\n" not in word else None
