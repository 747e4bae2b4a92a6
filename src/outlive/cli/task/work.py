"""ready, claim, heartbeat, release, complete."""

import sys
from collections.abc import Callable
from datetime import timedelta

import click

from outlive.cli.echo import echo
from outlive.cli.flags import shown
from outlive.cli.output import done
from outlive.cli.task.common import (
    Duration,
    budget_option,
    command,
    fit_options,
    holder_options,
    id_argument,
    local,
    optional_id_argument,
    paint,
    print_list,
    print_task,
)
from outlive.config import default_owner
from outlive.errors import NothingReady
from outlive.printable import clean, some
from outlive.stores.tasks.protocol import Fit
from outlive.stores.tasks.records import Task
from outlive.tasks.graph import DEFAULT_TTL, TaskGraph

WAIT_CODES = {"nothing_open": 3, "timed_out": 4, "all_blocked": 5}
"""Exit codes of `claim --wait` by the code of the error."""
_TTL = click.option(
    "--ttl",
    type=Duration(),
    default=f"{DEFAULT_TTL.seconds // 60}m",
    show_default=True,
    help="How long the claim holds without a heartbeat, such as 90s, 15m, 2h.",
)


@command()
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most this many.")
@budget_option
@fit_options
@click.option("--wait", is_flag=True, help="Sleep until there is something.")
@click.option("--timeout", type=Duration(), help="With --wait: give up after this long.")
def ready(
    graph: TaskGraph,
    limit: int | None,
    budget: int | None,
    labels: tuple[str, ...],
    capabilities: tuple[str, ...],
    wait: bool,
    timeout: timedelta | None,
    as_json: bool,
) -> None:
    """List what can be started now: pending and not blocked, most urgent first, then oldest.

    \b
    Examples:
      outlive task ready -n 5
      outlive task ready --label docs --json
      outlive task ready --wait --timeout 10m
    """
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait")
    fit = Fit(labels, capabilities or None)
    if wait:
        tasks = graph.wait_ready(fit, limit=limit, timeout=timeout.total_seconds() if timeout else None)
    else:
        tasks = graph.ready(fit, limit=limit)
    if graph.given_back:
        done(f"leases that had expired were given back: {some(graph.given_back)}")
    print_list(tasks, len(tasks), budget=budget, limit=limit, as_json=as_json, none="nothing is ready")


@command()
@optional_id_argument
@click.option("--owner", metavar="NAME", help="Who takes it; OUTLIVE_OWNER if not given.")
@_TTL
@fit_options
@click.option("--wait", is_flag=True, help="Without an ID: sleep until there is something to take.")
@click.option("--timeout", type=Duration(), help="With --wait: give up after this long.")
def claim(
    graph: TaskGraph,
    ref: str | None,
    owner: str | None,
    ttl: timedelta,
    labels: tuple[str, ...],
    capabilities: tuple[str, ...],
    wait: bool,
    timeout: timedelta | None,
    as_json: bool,
) -> None:
    """Take a task, or the best ready one, under a lease. Exactly one claimer wins.

    The lease runs out unless it is extended (heartbeat); then the task goes back and another may take it.
    lease.token is the fencing token: give it to complete, and a claim that was lost cannot overwrite the
    work of the one that took over.

    \b
    Examples:
      outlive task claim 3 --owner me
      outlive task claim --owner worker-1 --ttl 10m --label python --json
      outlive task claim --owner worker-1 --wait

    \b
    Exit codes: 0 claimed, 1 refused, 2 wrong usage; with --wait also 3 all tasks are finished, 4 the time is up,
    5 the time is up, and no open task is in progress or can be taken (blocked, or not with these labels).
    """
    owner = owner or default_owner()
    if not owner:
        raise click.UsageError("say who takes it: --owner NAME (or set OUTLIVE_OWNER)")
    fit = Fit(labels, capabilities or None)
    if ref is not None and (wait or timeout or fit != Fit()):
        raise click.UsageError(
            "--wait, --timeout, --label and --capability choose a task, so they do not go with an ID"
        )
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait")
    if wait:
        seconds = timeout.total_seconds() if timeout else None
        task = _waited(lambda: graph.wait_claim(owner=owner, ttl=ttl, fit=fit, timeout=seconds, while_open=True))
    else:
        task = graph.claim(ref, owner=owner, ttl=ttl, fit=fit)
    print_task(task, "claimed", as_json=as_json)
    _say_lease(task, as_json=as_json)


def _waited(claim: Callable[[], Task]) -> Task:
    """The claimed task; ends the command with a code of its own when there is none."""
    try:
        return claim()
    except NothingReady as error:
        code = WAIT_CODES.get(error.code)
        if code is None:
            raise
        click.echo(clean(shown(error)), err=True)
        sys.exit(code)


@command()
@id_argument
@holder_options
@_TTL
def heartbeat(
    graph: TaskGraph, ref: str, owner: str | None, token: int | None, ttl: timedelta, as_json: bool
) -> None:
    """Extend the lease of a claimed task. Refused once it is no longer yours.

    \b
    Examples:
      outlive task heartbeat 3 --owner worker-1 --token 7
    """
    task = graph.heartbeat(ref, owner=owner, token=token, ttl=ttl)
    print_task(task, "extended", as_json=as_json)
    _say_lease(task, as_json=as_json)


@command()
@id_argument
@holder_options
@click.option("--force", is_flag=True, help="Take it away from its holder.")
def release(graph: TaskGraph, ref: str, owner: str | None, token: int | None, force: bool, as_json: bool) -> None:
    """Give a claimed task back unfinished.

    \b
    Examples:
      outlive task release 3 --owner worker-1
      outlive task release 3 --force
    """
    print_task(graph.release(ref, owner=owner, token=token, force=force), "released", as_json=as_json)


@command()
@id_argument
@click.option("-r", "--result", metavar="TEXT", help="A note on what came out of it.")
@holder_options
@click.option("--force", is_flag=True, help="Although it is still blocked.")
def complete(
    graph: TaskGraph, ref: str, result: str | None, owner: str | None, token: int | None, force: bool, as_json: bool
) -> None:
    """Finish a task; what it blocked becomes ready.

    \b
    Examples:
      outlive task complete 3
      outlive task complete 3 --owner worker-1 --token 7 --result "merged in 4f1c2aa"
    """
    outcome = graph.complete(ref, result=result, owner=owner, token=token, force=force)
    print_task(outcome.task, "completed", as_json=as_json, unblocked=outcome.unblocked)


def _say_lease(task: Task, *, as_json: bool) -> None:
    if not as_json and task.lease:
        until = local(task.lease.expires_at, "%H:%M:%S")
        echo(paint(f"  until {until}, token {task.lease.token}", "dim"))
