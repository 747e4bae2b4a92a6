"""`outlive work`: a worker in the foreground."""

import asyncio
import os
import signal
import socket
import sys
from contextlib import ExitStack
from typing import Any

import click

from outlive.agent.factory import AgentOptions
from outlive.config import Workspace, default_owner
from outlive.config.home import remember_project
from outlive.options import agent_options

EXIT_CODES = {"drained": 0, "empty": 0, "stuck": 5, "budget": 6}
"""How a worker ends."""
ABOUT = {
    "stuck": "what is left waits for a person, or is not for this worker: outlive fleet",
    "budget": "the budget is spent: outlive fleet budget",
}
"""What is worth saying of that."""


@click.command()
@click.option("--slots", type=click.IntRange(1, 1000), help="Tasks that it works on at once.  [default: 1]")
@click.option("--owner", metavar="NAME", help="Its name in the fleet.  [default: OUTLIVE_OWNER, else host-process]")
@click.option("--label", "labels", multiple=True, help="Take only tasks with this label; repeat for more.")
@click.option(
    "--capability", "capabilities", multiple=True, help="Take only tasks whose labels are all among these; repeat."
)
@click.option("--until-empty", is_flag=True, help="End when no task is left that a worker could do.")
@click.option("--budget", type=click.FloatRange(min=0), metavar="USD", help="End after spending this much.")
@click.option(
    "--check", "checks", multiple=True, metavar="COMMAND", help="Has to pass before a task is done; repeat."
)
@click.option("--branch", help="Where work lands.  [default: the branch that is checked out]")
@click.option("--remote", metavar="NAME", help='The git remote that machines share; "" for none.')
@click.option("--grace", type=click.FloatRange(min=0), metavar="SECONDS", help="For running tasks at the end.")
@click.option("--metrics", metavar="HOST:PORT", help="Serve metrics for Prometheus, such as 127.0.0.1:9464.")
@agent_options
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each thing that happens.")
def work(
    owner: str | None, store: str | None, metrics: str | None, until_empty: bool, as_json: bool, **given: Any
) -> None:
    """Take ready tasks, and do them: each in a git worktree and a session of its own, checked, committed, landed.

    Several workers share one graph, on one machine or, with PostgreSQL and a git remote, on many. Ctrl-C (or
    SIGTERM) takes no more tasks and gives running ones some time; a second one stops them. What they did is kept,
    and the next worker goes on in the same session. Its agents work in mode accept-edits unless you say otherwise;
    nobody can be asked, so what needs a yes is refused.

    \b
    Examples:
      outlive work                                              one task after the other, until Ctrl-C
      outlive work --slots 4 --check "make test" --allow "bash(make test)"
      outlive work --until-empty --budget 20
      outlive work --store postgresql://team@db/work --owner build-7 --capability gpu

    \b
    Exit codes: 0 drained, or nothing is left to do; 1 refused; 2 wrong usage; 6 its budget is spent. With
    --until-empty also 5 what is left waits for a person or does not fit this worker, 6 the fleet's budget is spent.
    """
    from outlive.work.log_lines import WorkLog
    from outlive.work.metrics import serve_metrics
    from outlive.work.settings import work_options
    from outlive.work.start import worker_parts

    workspace = Workspace.find(store=store)
    remember_project(workspace.project)
    name = owner or default_owner() or f"{socket.gethostname()}-{os.getpid()}"
    agent = {name: given.pop(name) for name in AgentOptions.__struct_fields__ if name in given}
    options = work_options(workspace, agent=agent, owner=name, until_empty=until_empty, **given)
    log = WorkLog(lambda line: click.echo(line), "json" if as_json else "text", worker=name)
    with ExitStack() as stack:
        parts = stack.enter_context(worker_parts(workspace, options, log))
        if metrics:
            stack.callback(serve_metrics(parts.metrics, metrics))
        ended = asyncio.run(_run(parts))
    spent = parts.budget.spent
    log.say("ended_work", why=ended, text=ABOUT.get(ended), dollars=f"{spent:.4f}" if spent else "")
    sys.exit(EXIT_CODES[ended])


async def _run(parts: Any) -> str:
    from outlive.work.worker import Worker

    worker, loop = Worker(parts), asyncio.get_running_loop()
    asked = 0

    def end() -> None:
        nonlocal asked
        asked += 1
        worker.drain(None if asked == 1 else 0.0)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end)
    return await worker.run()
