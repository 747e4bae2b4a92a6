"""A group of commands that imports a command only to run it."""

from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    def __init__(self, *args: Any, commands_in: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        """`commands_in` maps a name to (module:attribute, one line of help)."""
        super().__init__(*args, **kwargs)
        self._places = commands_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return None
        module, _, attribute = self._places[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def hint(self, name: str) -> str:
        """What to say about a word that is not a command and not nearly one."""
        return ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            close = get_close_matches(args[0], self._places, n=1)
            if not close and (hint := self.hint(args[0])) == "":
                raise
            hint = f"Did you mean {close[0]!r}?" if close else hint
            raise click.UsageError(f"{error.message} {hint}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._places.items()])
