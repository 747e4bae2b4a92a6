"""`outlive recall`: the exact text behind a handle, or where something was said."""

import re
import sys
from base64 import b64decode
from collections.abc import Iterator
from itertools import islice
from typing import Any

import click
from msgspec.structs import asdict

from outlive.agent.recall import RecallHit, lines_of, pages_of, related, search
from outlive.cli.echo import echo, echo_exact, json_option, print_json, store_option
from outlive.cli.session.common import open_store, resolved, say_damage
from outlive.context.log.pages import Pages
from outlive.context.log.pieces import describe_object
from outlive.messages import Image
from outlive.stores.logs.protocol import Damage, LogStore, SessionTooLarge
from outlive.stores.logs.reading import full_log


class Span(click.ParamType[tuple[int, int]]):
    name = "lines"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        match = re.fullmatch(r"\s*([0-9]+)(?:\s*-\s*([0-9]*))?\s*", str(value))
        if match is None or not int(match[1]):
            self.fail(f"{value!r} is not a range of lines; write 10-40, 10- or 10", param, ctx)
        first = int(match[1])
        last = first if match[2] is None else int(match[2] or 1 << 60)
        if last < first:
            self.fail(f"{value!r} ends before it begins", param, ctx)
        return first, last


@click.command()
@click.argument("handle", required=False)
@click.option("--session", metavar="ID", help="The session; not needed where there is only one.")
@click.option("--range", "span", type=Span(), metavar="A-B", help="Only lines A to B of the page, counted from 1.")
@click.option("--grep", default="", metavar="RE", help="Only lines that match this regular expression.")
@click.option("--search", "text", default="", metavar="TEXT", help="Find lines that contain TEXT, or pages about it.")
@click.option("--all", "everywhere", is_flag=True, help="Search all sessions.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many finds."
)
@store_option("sessions")
@json_option
def recall(
    handle: str | None,
    session: str | None,
    span: tuple[int, int] | None,
    grep: str,
    text: str,
    everywhere: bool,
    limit: int,
    store: str | None,
    as_json: bool,
) -> None:
    """Print the exact text behind a handle, byte for byte; or (--search) find handles.

    \b
    Examples:
      outlive recall @h12 --session SESSION
      outlive recall @h12 --session SESSION --range 40-60
      outlive recall @h12 --session SESSION --grep 'def .*parse'
      outlive recall --search "connection refused" --session SESSION
      outlive recall --search parse_header --all --json

    \b
    Exit codes: 0 done, 1 refused or nothing found, 2 wrong usage.
    """
    if bool(handle) == bool(text):
        raise click.UsageError("name a handle (@h12), or what to --search for")
    if everywhere and (handle or session):
        raise click.UsageError("--all goes with --search, and not with --session")
    if (span or grep) and text:
        raise click.UsageError("--range and --grep go with a handle")
    with open_store(store) as opened:
        if text:
            names = [info.id for info in opened.sessions()] if everywhere else [_chosen(opened, session)]
            _print_hits(_hits(opened, names, text, limit), as_json=as_json)
            return
        name = _chosen(opened, session)
        log = full_log(opened, name)
    say_damage(log.damage)
    page = pages_of(log.events).get(handle or "")
    if isinstance(page.block, Image):
        _print_picture(page.block, name, f"@h{page.number}", as_json=as_json)
        return
    found = lines_of(page.text, span, grep)
    if as_json:
        print_json({"session": name, "handle": f"@h{page.number}", "text": found})
    else:
        echo_exact(found.encode())
    if grep and not found:
        sys.exit(1)


def _print_picture(picture: Image, session: str, handle: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"session": session, "handle": handle, **asdict(picture)})
    elif picture.url:
        echo(picture.url)
    elif sys.stdout.isatty():
        raise click.UsageError(f"{handle} is a {describe_object(picture)}: send it to a file, with > FILE")
    else:
        echo_exact(b64decode(picture.data))


def _chosen(store: LogStore, session: str | None) -> str:
    if session:
        return resolved(store, session)
    found = [info for info in store.sessions() if not info.unused] or store.sessions()
    if len(found) == 1:
        return found[0].id
    rows = "".join(f"\n  {info.id}  {info.title}" for info in found[:5]) + ("\n  …" if len(found) > 5 else "")
    raise click.UsageError(f"which --session? there are{rows}" if found else "there are no sessions here")


def _hits(store: LogStore, names: list[str], text: str, limit: int) -> list[RecallHit]:
    """Find lines that contain the text; if there are none, the most related pages."""
    pages = dict(_pages(store, names))
    exact = list(islice((hit for name, found in pages.items() for hit in search(name, found, text)), limit))
    if exact:
        return exact
    best = [hit for name, found in pages.items() for hit in related(name, found, text, limit)]
    return best[:limit]


def _pages(store: LogStore, names: list[str]) -> Iterator[tuple[str, Pages]]:
    for name in names:
        try:
            log = full_log(store, name)
        except SessionTooLarge as error:
            if len(names) == 1:
                raise
            say_damage([Damage(f"session {name!r}", str(error))])
            continue
        say_damage(log.damage)
        yield name, pages_of(log.events)


def _print_hits(hits: list[RecallHit], *, as_json: bool) -> None:
    if as_json:
        print_json(hits)
    several = len({hit.session for hit in hits}) > 1
    for hit in () if as_json else hits:
        where = click.style(f"{hit.session} " if several else "", dim=True) + click.style(hit.handle, bold=True)
        echo(f"{where}:{hit.line}  {hit.text.strip()}  {click.style(hit.what, dim=True)}")
    if not hits:
        echo(click.style("nothing found", dim=True), err=True)
        sys.exit(1)
