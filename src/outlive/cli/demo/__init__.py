"""`outlive demo`: short, real stories in a temporary folder."""

import os
import shutil
import tempfile
from pathlib import Path

import click

PACE_SECONDS = 0.7
"""Before each answer of the agent, when people watch it in the browser."""


@click.command()
@click.argument("story", type=click.Choice(["agent", "graph", "replay"]), default="agent")
@click.option("--keep", is_flag=True, help="Keep the temporary folder, to look around.")
@click.option("--web", is_flag=True, help="Watch it in the browser while it plays; Ctrl-C ends it.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--store", metavar="URL", help="graph: play it on another engine, such as sqlite:///demo.db.")
@click.option("--act", nargs=1, hidden=True, help="Run as the agent of the story in this folder.")
@click.option("--resume", hidden=True, help="… from where this session stopped.")
@click.option("--pace", type=float, default=0.0, hidden=True, help="… with so many seconds before each answer.")
@click.option("--worker", hidden=True, help="Run as a worker with this name.")
@click.pass_context
def demo(
    ctx: click.Context,
    story: str,
    keep: bool,
    web: bool,
    no_open: bool,
    store: str | None,
    act: str | None,
    resume: str | None,
    worker: str | None,
    pace: float,
) -> None:
    """Watch an agent work beyond its window, be killed, and lose nothing. No key, no network.

    \b
    agent    a session several times larger than its window; every rung of the ladder fires, the process is
             killed with kill -9 and goes on; at the end every promise is checked on what was really sent
    graph    two worker processes share a plan, one is killed, the other takes over
    replay   a recorded session at a small window, and what is left of it in the end

    \b
    Examples:
      outlive demo
      outlive demo graph
      outlive demo --web
      outlive demo --keep
    """
    if act is not None:
        from outlive.cli.demo.actor import act as run

        ctx.exit(run(Path(act), resume, pace))
    if worker is not None:
        from outlive.cli.demo.graph import work

        work(store, worker)
        return
    folder, home = Path(tempfile.mkdtemp(prefix="outlive-demo-")), Path.cwd()
    try:
        os.chdir(folder)
        if web:
            _tell_on_page(story, folder, store, no_open=no_open)
        else:
            _tell(story, folder, store)
    finally:
        os.chdir(home)
        if keep:
            click.echo(f"\nlook around: cd {folder / 'work' if story == 'agent' else folder}")
        else:
            shutil.rmtree(folder)


def _tell_on_page(story: str, folder: Path, store: str | None, *, no_open: bool) -> None:
    """Tell a story while a web server shows its folder, and keep the server until Ctrl-C."""
    from outlive.cli.demo.page import DemoPage

    place = folder / "work" if story == "agent" else folder
    place.mkdir(exist_ok=True)
    with DemoPage(place, folder / "home", store, no_open=no_open) as page:
        _tell(story, folder, store, pace=PACE_SECONDS)
        page.wait()


def _tell(story: str, folder: Path, store: str | None, *, pace: float = 0.0) -> None:
    if story == "agent":
        from outlive.cli.demo.agent import play

        play(folder, pace)
    elif story == "graph":
        from outlive.cli.demo.graph import tell

        tell(store)
    else:
        from outlive.cli.demo.replay import tell as replay
        from outlive.stores import open_stores

        replay(open_stores(store or "files:.tasks").logs)
