"""`outlive "fix the test"`: separates the first prompt of a conversation from commands and options.

A prompt is one argument with white space in it, or everything after `--`. One word alone is a command, so that a
mistyped command gets a suggestion and is not sent to a model.
"""

from collections.abc import Sequence

import click

from outlive.cli.lazy import LazyGroup

KEY = "outlive.first_prompt"
"""Key of the prompt in `Context.meta`."""


class PromptGroup(LazyGroup):
    """The group `outlive`, whose arguments may be a prompt instead of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options, prompt = self._separated(ctx, args)
        if prompt is not None:
            ctx.meta[KEY] = prompt
        return super().parse_args(ctx, options)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS]", "[PROMPT | COMMAND [ARGS]...]"]

    def hint(self, name: str) -> str:
        return f"A prompt of one word goes after --: outlive -- {name}"

    def _separated(self, ctx: click.Context, args: list[str]) -> tuple[list[str], str | None]:
        """The arguments without the prompt, and the prompt."""
        if "--" in args:
            border = args.index("--")
            if self._rest(ctx, args[:border]) == [] and (words := args[border + 1 :]):
                return args[:border], " ".join(words)
        rest = self._rest(ctx, args)
        if not rest or len(rest[0].split()) < 2:
            return args, None
        options = [*args[: len(args) - len(rest)], *rest[1:]]
        if more := self._rest(ctx, options):
            raise click.UsageError(f"{more[0]!r} comes after the prompt {rest[0]!r}; put all of it in quotes", ctx)
        return options, rest[0]

    def _rest(self, ctx: click.Context, args: Sequence[str]) -> list[str] | None:
        """The arguments from the first that is not an option; None if the options are wrong."""
        try:
            return self.make_parser(ctx).parse_args(list(args))[1]
        except click.UsageError:
            return None
