"""Input and output of the commands: options, lines, JSON, exact bytes, files."""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import click
import msgspec

from outlive.errors import StoreUnavailable
from outlive.printable import clean, clean_styled
from outlive.regular import read_named

if TYPE_CHECKING:
    from outlive.stores.tasks.protocol import Problem

F = TypeVar("F", bound=Callable[..., Any])
Opened = TypeVar("Opened")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
output_option = click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of stdout."
)


def store_option(what: str) -> Callable[[F], F]:
    return click.option("--store", metavar="URL", help=f"Where the {what} are, if not where the workspace says.")


def store_command(
    name: str | None, what: str, opened: Callable[[str | None], AbstractContextManager[Opened]]
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function that takes an open store; adds --store and --json."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        @click.pass_context
        def run(ctx: click.Context, /, store: str | None, **options: Any) -> None:
            with opened(store or ctx.obj) as it:
                function(it, **options)

        return click.command(name or function.__name__)(store_option(what)(json_option(run)))

    return decorate


def echo(text: str, *, err: bool = False) -> None:
    """Print lines that may hold untrusted text and our own colours."""
    click.echo(clean_styled(text), err=err)


def echo_exact(data: bytes, *, err: bool = False) -> None:
    """Write bytes unchanged to a file or a program; a terminal gets cleaned text."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        data = clean(data.decode("utf-8", "replace")).encode("utf-8", "replace")
    stream.buffer.write(data)
    stream.buffer.flush()


def print_json(value: Any, *, err: bool = False) -> None:
    """Print JSON: indented on a terminal, else on one line."""
    raw = msgspec.json.encode(value)
    stream = sys.stderr if err else sys.stdout
    echo_exact((msgspec.json.format(raw, indent=2) if stream.isatty() else raw) + b"\n", err=err)


def answer(form: Any, text: str, *, as_json: bool) -> None:
    """Print the answer of a command: JSON for programs, or text."""
    if as_json:
        print_json(form)
    else:
        echo(text)


@contextmanager
def named_output(path: Path) -> Iterator[BinaryIO]:
    """Open a file that the user named: it appears only when complete. Devices and pipes are never replaced."""
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


def write_lines(lines: Iterable[str | bytes], output: Path | None) -> None:
    encoded = ((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
    if output is None:
        for line in encoded:
            echo_exact(line)
        return
    with named_output(output) as file:
        file.writelines(encoded)


def print_findings(problems: Sequence["Problem"], repaired: Sequence[str], *, as_json: bool) -> None:
    """Print what a doctor found and repaired; exit with code 1 if a problem is left that is not harmless."""
    from outlive.cli.flags import remedy  # most commands need no hints

    wrong = any(not problem.harmless for problem in problems)
    problems = [msgspec.structs.replace(problem, remedy=remedy(problem)) for problem in problems]
    if as_json:
        print_json({"problems": problems, "repaired": repaired})
    else:
        for text in repaired:
            echo(f"{click.style('repaired', fg='green')} {text}")
        for problem in problems:
            kind = click.style("note", dim=True) if problem.harmless else click.style("problem", fg="red")
            echo(f"{kind} {problem.where}: {problem.what}\n  {click.style(problem.remedy, dim=True)}")
        if not wrong:
            echo(click.style("all is well", fg="green"))
    if wrong:
        sys.exit(1)


def named_input(source: Path) -> tuple[bytes, str]:
    """Read the file or pipe that the user named, or standard input for `-`; return its bytes and its name."""
    where = "standard input" if str(source) == "-" else str(source)
    try:
        return read_named(source), where
    except OSError as error:
        raise StoreUnavailable(f"cannot read {where}: {error.strerror}. Nothing was changed.") from None
