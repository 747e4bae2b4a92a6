"""Options and output shared by the commands on memories."""

import functools
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from outlive.cli.echo import named_input
from outlive.cli.output import done
from outlive.config import Workspace, default_actor
from outlive.memory.guard import blocked_reason
from outlive.memory.memories import Memories
from outlive.secrets import mask, mask_value
from outlive.stores.memories.records import KINDS, SCOPES, WHOS, Memory

F = TypeVar("F", bound=Callable[..., Any])


def command(name: str | None = None, *, heal: bool = True) -> Callable[[Callable[..., None]], click.Command]:
    """A command on memories: it gets `memories` and `as_json`, and --store and --json. `heal` brings MEMORY.md up to
    date on the way."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        @click.pass_context
        def run(ctx: click.Context, /, store: str | None, **options: Any) -> None:
            memories = open_memories(store or ctx.obj, heal=heal)
            try:
                function(memories, **options)
            finally:
                for opened in memories.stores.values():
                    for problem in opened.left_out():
                        click.echo(f"left out: {problem.what}; see: outlive memory doctor", err=True)
                memories.close()

        wrapped = click.option(
            "--store", metavar="URL", help="Where the memories are, if not where the workspace says."
        )(click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(run))
        return click.command(name or function.__name__)(wrapped)

    return decorate


def open_memories(store: str | None, *, heal: bool = True) -> Memories:
    return Memories.open(**Workspace.find(store=store).store, actor=default_actor() or "", heal=heal)


def refs_argument(function: F) -> F:
    return click.argument("refs", metavar="NAME...", nargs=-1, required=True, shell_complete=_complete)(function)


def ref_argument(function: F) -> F:
    return click.argument("ref", metavar="NAME", shell_complete=_complete)(function)


def field_options(function: F) -> F:
    """What a memory has beside its text."""
    options = (
        click.option("--description", "-d", default="", help="One sentence; else the first line of the text."),
        click.option("--key", "keys", multiple=True, help="A word to find it by, or what it is about; repeatable."),
        click.option("--date", default="", help="When it happened or was true, if not now."),
        click.option("--who", type=click.Choice(WHOS), default="user", help="Who said it."),
        click.option("--session", default="", metavar="ID", help="The session it was said in."),
        click.option("--event", default=0, metavar="N", help="The event of that session."),
        click.option("--confirm", is_flag=True, help="You agree to it, though a tool or a page said it."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def scope_option(function: F) -> F:
    return click.option("--scope", type=click.Choice(SCOPES), help="This project's memories, or the user's own.")(
        function
    )


def type_option(function: F) -> F:
    return click.option("--type", "kind", type=click.Choice(KINDS), help="What kind of memory.")(function)


def text_of(text: str | None) -> str:
    """The text that was given; - is standard input."""
    return named_input(Path(text))[0].decode("utf-8", "replace") if text == "-" else text or ""


def form_of(memory: Memory) -> dict[str, Any]:
    """A memory as JSON; secrets in files that somebody wrote by hand are masked."""
    form: dict[str, Any] = msgspec.to_builtins(memory)
    form["provenance"] = {"who": memory.provenance.who, **form["provenance"]}
    return {key: mask_value(value) for key, value in form.items()}


def line_of(memory: Memory, *, mark: str = "") -> str:
    """A memory in one line of a list, marked if a model does not get to see it."""
    about = clean(memory.description or memory.body)
    head = f"{click.style(memory.slug, bold=True)}  {click.style(memory.type, fg='cyan')}"
    where = click.style("  user", fg="magenta") if memory.scope == "user" else ""
    if not mark and (reason := blocked_reason(memory)):
        mark = f"not shown to a model: {reason}"
    said = click.style(f"  {mark}", fg="yellow") if mark else ""
    return f"{head}{where}{said}  {about}"


def clean(text: str, longest: int = 120) -> str:
    """On one line, without what a terminal would act on."""
    line = " ".join("".join(c if c.isprintable() else " " for c in mask(text)[: longest * 8]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def shown(text: str) -> str:
    """A text of several lines, without what a terminal would act on."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in mask(text))


def print_json(value: Any) -> None:
    """Indented for a person at a terminal, one line for a program."""
    raw = msgspec.json.encode(value)
    click.echo(msgspec.json.format(raw, indent=2) if sys.stdout.isatty() else raw)


def print_memories(memories: Iterable[Memory], *, as_json: bool, verb: str) -> None:
    """What became of memories: an array, or a line each."""
    found = list(memories)
    done(f"{verb} {', '.join(memory.slug for memory in found)}")
    if as_json:
        print_json([form_of(memory) for memory in found])
    else:
        for memory in found:
            click.echo(f"{verb} {line_of(memory)}")


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    memories = open_memories(None)
    return [
        CompletionItem(memory.slug, help=clean(memory.description, 60))
        for memory in memories.all()
        if memory.slug.startswith(incomplete)
    ]
