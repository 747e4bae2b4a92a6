"""import, export, doctor."""

from pathlib import Path

import click

from outlive.cli.echo import answer, echo, named_input, output_option, print_findings, write_lines
from outlive.cli.output import done
from outlive.cli.task.common import command
from outlive.config import default_actor
from outlive.printable import some
from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import task_to_json
from outlive.tasks.audit import Audit
from outlive.tasks.graph import TaskGraph
from outlive.tasks.transfer import export_lines, import_bundle, read_bundle, read_folder


@command("import")
@click.argument("source", metavar="FILE", type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option("--renumber", is_flag=True, help="Give the tasks new ids; their edges follow.")
def import_(graph: TaskGraph, source: Path, renumber: bool, as_json: bool) -> None:
    """Import tasks, all or none, from an export, a JSON file of tasks, or a folder of task files.

    Reads the format of other tools too: {"id", "subject", "status", "blockedBy", …}. Tasks that exist already are
    skipped.

    \b
    Examples:
      outlive task export | outlive task import - --store sqlite:///tasks.db
      outlive task import theirs.json --renumber
      outlive task import ../other/.tasks --renumber
    """
    if source.is_dir():
        bundle = read_folder(source)
    else:
        raw, where = named_input(source)
        bundle = read_bundle(raw, where=where)
    imported = import_bundle(graph.store, bundle, Audit(default_actor(), None), renumber=renumber)
    done(f"{len(imported)} tasks were imported: {some([task.id for task in imported])}")
    skipped = len(bundle.tasks) - len(imported)
    text = f"imported {len(imported)} {'task' if len(imported) == 1 else 'tasks'}"
    text += f", {skipped} were there already" if skipped else ""
    answer([task_to_json(task) for task in imported], text, as_json=as_json)
    known = {task.id for task in graph.find(TaskQuery(archived=True))}
    for task in imported:
        if lost := [number for number in task.depends_on if number not in known]:
            listed = ", ".join(map(str, lost))
            echo(f"task {task.id} depends on {listed}, which does not exist; see: outlive task doctor", err=True)


@command()
@output_option
def export(graph: TaskGraph, output: Path | None, as_json: bool) -> None:
    """Write the whole graph, archived tasks and history included, as JSON lines.

    --json changes nothing: the export is JSON lines already.

    \b
    Examples:
      outlive task export -o tasks.jsonl
      outlive task export | outlive task import - --store postgresql://host/team
    """
    write_lines(export_lines(graph.store), output)


@command()
@click.option("--repair", is_flag=True, help="Mend what can be mended. Nothing is ever deleted.")
def doctor(graph: TaskGraph, repair: bool, as_json: bool) -> None:
    """Check every record and every derived value; exit code 1 when something is wrong.

    \b
    Examples:
      outlive task doctor
      outlive task doctor --repair    sets damaged files apart, rewrites derived values
    """
    repaired = graph.store.repair() if repair else []
    if repaired:
        done(f"repaired: {some(repaired)}")
    print_findings(graph.doctor(), repaired, as_json=as_json)
