"""What commands print: lines with colours of ours and text from anywhere, and bytes that must arrive as they are."""

import sys
from pathlib import Path

import click

from outlive.errors import StoreUnavailable
from outlive.printable import clean, clean_styled
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
