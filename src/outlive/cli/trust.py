"""`outlive trust`: let a project's outlive.toml permit things, once a person has looked at it."""

import sys

import click

from outlive.config import Workspace
from outlive.errors import ConfigError
from outlive.tools.trust import forget, grants, trust, trusted


@click.command(name="trust")
@click.option("--forget", "forgotten", is_flag=True, help="Trust it no longer.")
def trust_command(forgotten: bool) -> None:
    """Trust this project's outlive.toml as it is now: its allow rules, hooks and [agent] settings.

    A file that came with a repository may forbid, but permits nothing until you say so here. It shows what the
    file would permit and asks. When the file changes it has to be trusted again.

    \b
    Examples:
      outlive trust
      outlive trust --forget
    """
    workspace = Workspace.find()
    path = workspace.root / "outlive.toml"
    if forgotten:
        forget(path)
        click.echo(f"{path} is not trusted any more")
        return
    if not workspace.digest:
        raise ConfigError(f"there is no {path}; there is nothing to trust")
    if trusted(path, workspace.digest):
        click.echo(f"{path} is trusted already, as it is now")
        return
    for line in grants(workspace) or ["nothing that needs trust"]:
        click.echo(f"  {click.unstyle(line)}")
    if not sys.stdin.isatty():
        raise ConfigError("only a person can trust a file: run `outlive trust` in a terminal")
    click.confirm(f"Let {path} do this?", abort=True)
    trust(path, workspace.digest)
    click.echo("trusted, until the file changes")
