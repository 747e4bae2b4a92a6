"""graph."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from outlive.cli.echo import echo, output_option, print_json, write_lines
from outlive.cli.task.common import command, optional_id_argument, paint
from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import Task, task_to_json
from outlive.tasks.drawing import terminal
from outlive.tasks.drawing.dot import dot
from outlive.tasks.drawing.marks import state
from outlive.tasks.drawing.mermaid import mermaid
from outlive.tasks.drawing.svg import svg
from outlive.tasks.graph import TaskGraph
from outlive.tasks.listing import line

FORMATS_BY_SUFFIX = {".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid"}
FORMATS_BY_SUFFIX |= {".json": "json", ".txt": "tree"}
_DRAWERS = {"mermaid": mermaid, "dot": dot, "svg": svg}


@command()
@optional_id_argument
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["tree", "layers", *_DRAWERS, "json"]),
    help="tree if not given; by the ending of -o.",
)
@click.option("-a", "--all", "everything", is_flag=True, help="Finished tasks too.")
@click.option("--unblocks", is_flag=True, help="Instead of what ID needs: what waits for ID.")
@click.option("--critical-path", is_flag=True, help="Only the longest chain of open tasks (up to ID).")
@output_option
def graph(
    graph: TaskGraph,
    ref: str | None,
    form: str | None,
    everything: bool,
    unblocks: bool,
    critical_path: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Draw the graph; with an ID, the task and all that it depends on.

    \b
    Examples:
      outlive task graph
      outlive task graph 12 --format layers
      outlive task graph 12 --unblocks
      outlive task graph --critical-path
      outlive task graph --all -o plan.svg
    """
    if unblocks and ref is None:
        raise click.UsageError("--unblocks needs an ID")
    tasks = _chosen(graph, ref, everything=everything, unblocks=unblocks, critical_path=critical_path)
    form = "json" if as_json else form or _form_of(output)
    if form == "json" and output is None:
        print_json([task_to_json(task) for task in tasks])
        return
    if not tasks:
        echo(paint("nothing to draw; --all draws finished tasks too", "dim"), err=True)
    text = _drawn(tasks, form, styled=output is None and not critical_path, chain=critical_path)
    if output is None:
        echo(text)
    else:
        write_lines([text], output)


def _chosen(
    graph: TaskGraph, ref: str | None, *, everything: bool, unblocks: bool, critical_path: bool
) -> list[Task]:
    if critical_path:
        return graph.critical_path(ref)
    if ref is None:
        return graph.find(TaskQuery(sort="id")) if everything else graph.find()
    if unblocks:
        return [graph.get(ref), *graph.unblocks(ref)]
    return graph.subtree(ref)


def _form_of(output: Path | None) -> str:
    if output is None or output.suffix == "":
        return "tree"
    form = FORMATS_BY_SUFFIX.get(output.suffix.lower())
    if form is None:
        raise click.UsageError(f"{output.name}: say which --format; it is known for {', '.join(FORMATS_BY_SUFFIX)}")
    return form


def _drawn(tasks: Sequence[Task], form: str, *, styled: bool, chain: bool) -> str:
    def style(text: str, task: Task) -> str:
        return paint(text, state(task)) if styled else text

    if form == "json":
        return msgspec.json.encode([task_to_json(task) for task in tasks]).decode()
    if form in _DRAWERS:
        return _DRAWERS[form](tasks)
    if form == "layers":
        width = shutil.get_terminal_size((100, 40)).columns if sys.stdout.isatty() else 100
        return terminal.layers(tasks, width=width, style=style)
    if chain:
        return "\n".join(f"{index}. {line(task, paint)}" for index, task in enumerate(tasks, start=1))
    return terminal.tree(tasks, style=style)
