"""Options and output shared by the commands on memories."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from outlive.cli.echo import answer, named_input, store_command
from outlive.cli.output import done
from outlive.config import Workspace, default_actor
from outlive.memory.guard import blocked_reason
from outlive.memory.memories import Memories
from outlive.options import together
from outlive.printable import clean, one_line
from outlive.secrets import mask, mask_value
from outlive.stores.memories.records import KINDS, SCOPES, WHOS, Memory


def command(name: str | None = None, *, heal: bool = True) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function that takes `memories` and `as_json`; adds --store and --json. `heal` brings
    MEMORY.md up to date."""
    return store_command(name, "memories", partial(_opened, heal=heal))


@contextmanager
def _opened(store: str | None, heal: bool) -> Iterator[Memories]:
    memories = open_memories(store, heal=heal)
    try:
        yield memories
    finally:
        for opened in memories.stores.values():
            for problem in opened.left_out():
                click.echo(f"left out: {problem.what}; see: outlive memory doctor", err=True)
        memories.close()


def open_memories(store: str | None, *, heal: bool = True) -> Memories:
    return Memories.open(**Workspace.find(store=store).store, actor=default_actor() or "", heal=heal)


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    found = [memory for memory in open_memories(None).all() if memory.slug.startswith(incomplete)]
    return [CompletionItem(memory.slug, help=brief(memory.description, 60)) for memory in found]


ref_argument = click.argument("ref", metavar="NAME", shell_complete=_complete)
refs_argument = click.argument("refs", metavar="NAME...", nargs=-1, required=True, shell_complete=_complete)
scope_option = click.option("--scope", type=click.Choice(SCOPES), help="This project's memories, or the user's own.")
type_option = click.option("--type", "kind", type=click.Choice(KINDS), help="What kind of memory.")
field_options = together(
    click.option("--description", "-d", default="", help="One sentence; else the first line of the text."),
    click.option("--key", "keys", multiple=True, help="A word to find it by, or what it is about; repeatable."),
    click.option("--date", default="", help="When it happened or was true, if not now."),
    click.option("--who", type=click.Choice(WHOS), default="user", help="Who said it."),
    click.option("--session", default="", metavar="ID", help="The session it was said in."),
    click.option("--event", default=0, metavar="N", help="The event of that session."),
    click.option("--confirm", is_flag=True, help="You agree to it, though a tool or a page said it."),
)


def text_of(text: str | None) -> str:
    """Return the given text; `-` reads standard input."""
    return named_input(Path(text))[0].decode("utf-8", "replace") if text == "-" else text or ""


def form_of(memory: Memory) -> dict[str, Any]:
    """Return a memory as a JSON object; secrets in hand-written files are masked."""
    form: dict[str, Any] = msgspec.to_builtins(memory)
    form["provenance"] = {"who": memory.provenance.who, **form["provenance"]}
    return {key: mask_value(value) for key, value in form.items()}


def line_of(memory: Memory, *, mark: str = "") -> str:
    """Describe a memory in one line, marked if it is not shown to a model."""
    about = brief(memory.description or memory.body)
    head = f"{click.style(memory.slug, bold=True)}  {click.style(memory.type, fg='cyan')}"
    where = click.style("  user", fg="magenta") if memory.scope == "user" else ""
    if not mark and (reason := blocked_reason(memory)):
        mark = f"not shown to a model: {reason}"
    label = click.style(f"  {mark}", fg="yellow") if mark else ""
    return f"{head}{where}{label}  {about}"


def brief(text: str, longest: int = 120) -> str:
    """Return a text on one line, safe to print, with secrets masked."""
    return one_line(mask(text), longest)


def shown(text: str) -> str:
    """Return a text of several lines, safe to print, with secrets masked."""
    return clean(mask(text))


def print_memories(memories: Iterable[Memory], *, as_json: bool, verb: str) -> None:
    found = list(memories)
    done(f"{verb} {', '.join(memory.slug for memory in found)}")
    lines = "\n".join(f"{verb} {line_of(memory)}" for memory in found)
    answer([form_of(memory) for memory in found], lines, as_json=as_json)
