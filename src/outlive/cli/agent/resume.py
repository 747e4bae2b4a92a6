"""`outlive resume`: the options that go on with a session, as a command."""

from typing import Any

import click

from outlive.cli.agent.options import resume_options


@click.command()
@click.argument("session", required=False, metavar="[ID]")
@resume_options
@click.pass_context
def resume(ctx: click.Context, /, session: str | None, **options: Any) -> None:
    """Go on with a session: with ID as outlive --resume does, without one as --continue does.

    \b
    Examples:
      outlive resume                                       the newest session of this folder
      outlive resume 20261118-10                           this one
      outlive resume --from 4f1c                           a session of another agent, the same as outlive --from
    """
    from outlive.cli.agent.start import start

    if session and options["rescued"]:
        raise click.UsageError("ID and --from name a session each; use one of them")
    newest = not session and not options["rescued"]
    ctx.exit(start(**options, resume=session, continued=newest))
