"""get, list, log."""

import click

from outlive.cli.echo import print_json
from outlive.cli.memory.common import (
    brief,
    command,
    form_of,
    line_of,
    refs_argument,
    scope_option,
    shown,
    type_option,
)
from outlive.memory.changelog import ChangelogEntry, diff
from outlive.memory.guard import blocked_reason
from outlive.memory.memories import Memories
from outlive.secrets import mask
from outlive.stores.memories.records import Kind, Memory, Scope


@command()
@refs_argument
def get(memories: Memories, refs: tuple[str, ...], as_json: bool) -> None:
    """Show memories in full, by slug or name; forgotten and superseded ones too.

    With --json, one memory prints as one object, several as an array.

    \b
    Examples:
      outlive memory get use-tabs
      outlive memory get "Use tabs" --json
      outlive memory get user/my-role
    """
    found = [memories.get(ref) for ref in refs]
    if as_json:
        forms = [form_of(memory) for memory in found]
        print_json(forms[0] if len(forms) == 1 else forms)
        return
    hidden = memories.superseded()
    for memory in found:
        click.echo(_full(memory, hidden.get(f"{memory.scope}/{memory.slug}", "")))


@command("list")
@type_option
@scope_option
@click.option("--all", "everything", is_flag=True, help="Superseded and forgotten ones as well.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many.")
def list_(
    memories: Memories, kind: Kind | None, scope: Scope | None, everything: bool, limit: int | None, as_json: bool
) -> None:
    """List memories, those in use by default.

    \b
    Examples:
      outlive memory list
      outlive memory list --type feedback --json
      outlive memory list --all
    """
    found = memories.all(type=kind, scope=scope, superseded=everything, archived=everything)
    total, found = len(found), found[:limit]
    hidden = memories.superseded() if everything else {}
    if as_json:
        places = {f"{memory.scope}/{memory.slug}": memory for memory in found}
        print_json([form_of(memory) | {"superseded_by": hidden.get(place, "")} for place, memory in places.items()])
        return
    for memory in found:
        by = hidden.get(f"{memory.scope}/{memory.slug}", "")
        click.echo(line_of(memory, mark="forgotten" if memory.archived else f"superseded by {by}" if by else ""))
    if total > len(found):
        click.echo(click.style(f"… and {total - len(found)} more", dim=True), err=True)
    if not found:
        click.echo(click.style("nothing is remembered here yet", dim=True), err=True)


@command()
@click.argument("ref", metavar="[NAME]", default="")
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="The last so many steps."
)
@click.option("--diff/--no-diff", "diffs", default=True, help="Show what changed in each.")
def log(memories: Memories, ref: str, limit: int, diffs: bool, as_json: bool) -> None:
    """What was changed, step by step, oldest first; each step can be undone.

    \b
    Examples:
      outlive memory log
      outlive memory log use-tabs
      outlive memory log --no-diff -n 100
      outlive memory undo 12
    """
    found = memories.log(ref)
    shown_steps = found[-limit:]
    if as_json:
        print_json([_form(entry) for entry in shown_steps])
        return
    if len(found) > len(shown_steps):
        click.echo(click.style(f"… {len(found) - len(shown_steps)} earlier steps (-n shows more)", dim=True))
    for entry in shown_steps:
        click.echo(_head(entry))
        for change in entry.step.changes if diffs else ():
            for line in diff(change):
                colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
                click.echo("    " + click.style(shown(line), fg=colour))
    if not found:
        click.echo(click.style("nothing was changed yet", dim=True), err=True)


def _speaker(memory: Memory) -> str:
    source = memory.provenance
    who = "model (its reading, not the user's words)" if source.who == "model" else source.who
    label = who + (", confirmed" if source.confirmed else "")
    return f"{label}, as the file has it, which came with the folder" if source.untrusted else label


def _full(memory: Memory, by: str) -> str:
    facts = {
        "name": brief(memory.name, 200),
        "description": brief(memory.description, 2_000),
        "type": memory.type,
        "scope": memory.scope,
        "keys": brief(", ".join(memory.keys), 500),
        "date": brief(memory.date),
        "said by": _speaker(memory),
        "session": brief(memory.provenance.session),
        "event": str(memory.provenance.event or ""),
        "created": f"{memory.created.astimezone():%Y-%m-%d %H:%M}",
        "updated": f"{memory.updated.astimezone():%Y-%m-%d %H:%M}" + f", revision {memory.revision}",
        "supersedes": ", ".join(memory.supersedes),
        "derived from": ", ".join(memory.derived_from),
        "superseded by": by,
        "forgotten": f"{memory.archived.astimezone():%Y-%m-%d %H:%M}" if memory.archived else "",
        "not shown to a model": blocked_reason(memory),
    }
    lines = [click.style(memory.slug, bold=True)]
    lines += [f"  {click.style(f'{label}:', dim=True)} {value}" for label, value in facts.items() if value]
    return "\n".join([*lines, "", shown(memory.body), ""])


def _head(entry: ChangelogEntry) -> str:
    step = entry.step
    what = click.style(f"{entry.id:>4}", bold=True) + f"  {step.at.astimezone():%Y-%m-%d %H:%M}  {step.op}"
    what += f" of step {step.undoes}" if step.undoes else ""
    what += f" by {brief(step.actor)}" if step.actor else ""
    names = ", ".join(change.slug for change in step.changes[:5]) + (" …" if len(step.changes) > 5 else "")
    note = f" ({brief(step.note, 200)})" if step.note else ""
    return what + f"  {names}{note}" + (click.style("  undone", fg="yellow") if entry.undone else "")


def _form(entry: ChangelogEntry) -> dict[str, object]:
    step = entry.step
    changes = [
        {
            "slug": change.slug,
            "before": change.before and form_of(change.before),
            "after": change.after and form_of(change.after),
        }
        for change in step.changes
    ]
    return {
        "id": entry.id,
        "scope": entry.scope,
        "at": step.at,
        "op": step.op,
        "actor": mask(step.actor),
        "note": mask(step.note),
        "undoes": step.undoes,
        "undone": entry.undone,
        "changes": changes,
    }
