"""import, export, doctor."""

import sys
from pathlib import Path

import click
from msgspec.structs import asdict

from outlive.cli.echo import answer, named_input, output_option, print_findings, write_lines
from outlive.cli.memory.common import command, form_of, scope_option
from outlive.cli.output import done
from outlive.memory import doctor as checkup
from outlive.memory.memories import Memories
from outlive.memory.transfer import Imported, export_lines, import_memories, read_folder, read_lines, read_markdown
from outlive.stores.memories.records import Scope


@command("import")
@click.argument("source", metavar="FILE", type=click.Path(exists=True, allow_dash=True, path_type=Path))
@scope_option
def import_(memories: Memories, source: Path, scope: Scope | None, as_json: bool) -> None:
    """Import memories from JSON lines (name, description, type, body, and optionally keys and date), from a folder of
    Markdown files with frontmatter, as other agents keep them, or from one such file. In a MEMORY.md, lines that link
    to other files are skipped, and each section with notes becomes a memory.

    Memories that an export with --all marks as superseded or forgotten stay so. A memory whose name is taken gets a
    slug of its own, which is reported.

    The import is one step of the log, so `outlive memory undo` takes all of it back. Known memories are skipped;
    refused ones (with a secret, say) are reported, and then the exit code is 1.

    \b
    Examples:
      outlive memory import notes.jsonl
      outlive memory import ~/.claude/projects/my-project/memory
      outlive memory export | outlive memory import - --store sqlite:///team.db
    """
    result = Imported()
    if source.is_dir():
        found = read_folder(source, result)
    elif source.suffix.lower() == ".md":
        found = read_markdown(source, result)
    else:
        found = read_lines(*named_input(source), result)
    import_memories(memories, found, result, scope=scope)
    done(f"{len(result.added)} memories were imported")
    form = asdict(result) | {"added": [form_of(memory) for memory in result.added]}
    text = f"imported {len(result.added)} {'memory' if len(result.added) == 1 else 'memories'}"
    text += f" ({result.out_of_use} superseded or forgotten)" if result.out_of_use else ""
    text += f", {result.known} were there already" if result.known else ""
    answer(form, text, as_json=as_json)
    for text in result.alike:
        click.echo(f"{click.style('note:', fg='yellow')} {text}", err=True)
    for text in result.refused:
        click.echo(f"{click.style('refused:', fg='red')} {text}", err=True)
    if result.refused:
        sys.exit(1)


@command()
@output_option
@click.option("--all", "everything", is_flag=True, help="Superseded and forgotten ones as well.")
def export(memories: Memories, output: Path | None, everything: bool, as_json: bool) -> None:
    """Write memories as JSON lines. --json changes nothing: the export is JSON lines already.

    \b
    Examples:
      outlive memory export -o memories.jsonl
      outlive memory export | outlive memory import - --store postgresql://host/team
    """
    write_lines(export_lines(memories, everything=everything), output)


@command()
@click.option("--repair", is_flag=True, help="Set apart what is bad, and rewrite the indexes. Nothing is deleted.")
def doctor(memories: Memories, repair: bool, as_json: bool) -> None:
    """Check every memory and every reference; exit code 1 when something is wrong.

    \b
    Examples:
      outlive memory doctor
      outlive memory doctor --repair    damaged, oversized and poisoned files are set apart in damaged/
    """
    repaired = checkup.repair(memories) if repair else []
    if repaired:
        done(f"repaired: {'; '.join(repaired)}")
    print_findings(checkup.problems(memories), repaired, as_json=as_json)
