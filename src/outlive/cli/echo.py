"""What commands print: lines with colours of ours and text from anywhere, and bytes that must arrive as they are."""

import sys

import click

from outlive.cli.clean import clean, clean_styled


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
