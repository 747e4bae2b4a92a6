"""What commands print: lines with colours of ours and text from anywhere, and bytes that must arrive as they are."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

import click

from outlive.cli.clean import clean, clean_styled
from outlive.errors import StoreUnavailable
from outlive.regular import read_named


def echo(text: str, *, err: bool = False) -> None:
    """Print lines; nothing in them can command the terminal."""
    click.echo(clean_styled(text), err=err)


def echo_exact(data: bytes, *, err: bool = False) -> None:
    """Write bytes as they are to a file or a program; a terminal gets them as text."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        data = clean(data.decode("utf-8", "replace")).encode("utf-8", "replace")
    stream.buffer.write(data)
    stream.buffer.flush()


def named_input(source: Path) -> tuple[bytes, str]:
    """The bytes of a file or pipe that the user named, or of standard input for `-`; and what to call it."""
    where = "standard input" if str(source) == "-" else str(source)
    try:
        return read_named(source), where
    except OSError as error:
        raise StoreUnavailable(f"cannot read {where}: {error.strerror}. Nothing was changed.") from None


@contextmanager
def named_output(path: Path) -> Iterator[BinaryIO]:
    """A file that the user named, written whole or not at all. A device or a pipe is written to, never replaced."""
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                yield stream
            return
        with NamedTemporaryFile(dir=target.parent, prefix=".", suffix=".part", delete=False) as file:
            try:
                yield cast(BinaryIO, file)
                file.close()
                Path(file.name).replace(target)
            finally:
                with suppress(OSError):
                    Path(file.name).unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"cannot write {path}: {error.strerror}") from None
