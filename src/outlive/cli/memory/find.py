"""search."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from outlive.cli.echo import named_input, print_json, write_lines
from outlive.cli.memory.common import command, line_of
from outlive.errors import DamagedRecord
from outlive.memory.memories import Memories
from outlive.memory.search import Finder


@command(heal=False)
@click.argument("query", default="")
@click.option("-k", "most", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many finds.")
@click.option(
    "--batch",
    type=click.Path(exists=True, allow_dash=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="One query a line; with --json one line of results a query.",
)
@click.option("--relevant", is_flag=True, help="Only what would be shown to a model: nothing if nothing is relevant.")
@click.option(
    "--dense/--no-dense",
    default=None,
    callback=lambda ctx, _option, dense: _made_ready(dense, ctx.params.get("query", "")),
    help="With the embedding model or without; with it if installed.",
)
def search(
    memories: Memories, query: str, most: int, batch: Path | None, relevant: bool, dense: bool | None, as_json: bool
) -> None:
    """Find memories by what they are about, best first.

    \b
    Examples:
      outlive memory search "how do I indent?"
      outlive memory search -k 5 --json "deploy to staging"
      outlive memory search -k 10 --json --batch questions.txt

    With --json: {"query": …, "results": [{"name": …, "score": …}, …]}.
    """
    if bool(query.strip()) == (batch is not None):
        raise click.UsageError("give a query, or a file of queries with --batch")
    queries = [query]
    if batch is not None:
        queries = list(_queries(batch))
    finder = Finder(memories, dense=dense).look()
    for text in queries:
        found = finder.select(text, most) if relevant else finder.search(text, most, untrusted=True)
        if as_json:
            results = [{"name": m.name, "score": score, "slug": m.slug, "scope": m.scope} for m, score in found]
            form = {"query": text, "results": results}
            if batch is None:
                print_json(form)
            else:
                write_lines([msgspec.json.encode(form)], None)
            continue
        if batch is not None:
            click.echo(click.style(text, bold=True))
        for memory, score in found:
            click.echo(f"{score:6.3f}  {line_of(memory)}")
        if not found:
            click.echo(click.style("nothing found", dim=True), err=True)


def _queries(batch: Path) -> Iterator[str]:
    """Yield the lines of a file. Only a line feed ends a line, so that each query has one line of output."""
    raw, where = named_input(batch)
    for number, line in enumerate(raw.removeprefix(BOM_UTF8).split(b"\n"), start=1):
        try:
            query = line.removesuffix(b"\r").decode()
        except UnicodeDecodeError as error:
            raise DamagedRecord(
                f"{where}, line {number}: not UTF-8 text ({error.reason} at byte {error.start + 1} of the line); "
                "save the file as UTF-8"
            ) from None
        if query.strip():
            yield query


def _made_ready(dense: bool | None, query: str) -> bool | None:
    """Load the embedding model and embed the query while the memories are read."""
    if dense is not False:
        from outlive.memory.retrieval.dense import prepare

        prepare(query)
    return dense
