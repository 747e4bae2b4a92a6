"""`outlive completion`: the script that makes a shell complete commands, options and task ids."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of your shell.

    \b
    Examples:
      outlive completion bash >> ~/.bashrc
      outlive completion zsh  >> ~/.zshrc
      outlive completion fish > ~/.config/fish/completions/outlive.fish
    """
    from outlive.cli.app import cli

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - click knows each of the choices
    click.echo(kind(cli, {}, "outlive", "_OUTLIVE_COMPLETE").source())
