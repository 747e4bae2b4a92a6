"""Command-line options that several faces share: how an agent works."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from outlive.config.settings import SUMMARY_CHOICES

F = TypeVar("F", bound=Callable[..., Any])


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Combine options into one decorator, in the order of the help text."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


agent_options = together(
    click.option("-m", "--model", metavar="PROVIDER:NAME", help="anthropic:NAME or openai:NAME; else MODEL_ID."),
    click.option(
        "--fallback-model", "fallback", metavar="PROVIDER:NAME", help="Answers when the model stays unavailable."
    ),
    click.option(
        "--permission-mode",
        "--mode",
        "mode",
        type=click.Choice(["ask", "accept-edits", "plan", "bypass"]),
        help="What needs to be asked.  [default: ask; of workers: accept-edits]",
    ),
    click.option("--allow", multiple=True, metavar="RULE", help='Allow without asking: "bash(pytest*)".'),
    click.option("--deny", multiple=True, metavar="RULE", help="Never allow, whatever the mode."),
    click.option(
        "--tools",
        metavar="NAMES",
        help="all, lean, or the tools to have: read_file,grep  [default: lean in a window below 32,000 tokens]",
    ),
    click.option("--add-dir", "add_dirs", multiple=True, metavar="DIR", help="Another folder that tools may use."),
    click.option("--sandbox/--no-sandbox", default=None, help="Run commands in an OS sandbox (bubblewrap)."),
    click.option("--network", is_flag=True, help="Let commands in the sandbox use the network."),
    click.option(
        "--orphans",
        type=click.Choice(["stop", "wait", "adopt"]),
        help="What becomes of commands that a killed session left running, when it is resumed; adopt keeps them in "
        "the background.  [default: stop; a terminal asks]",
    ),
    click.option(
        "--context-window",
        "--window",
        "window",
        type=click.IntRange(min=4000),
        metavar="N",
        help="Tokens of a request at most.",
    ),
    click.option("--policy", metavar="NAME", help="Compaction policy: lean, medium, rich, max, or of outlive.toml."),
    click.option(
        "--summary",
        type=click.Choice(SUMMARY_CHOICES),
        help="When the model summarizes what leaves the window; or the provider does.  [default: asked]",
    ),
    click.option(
        "--cold-pass/--no-cold-pass",
        default=None,
        help="When the provider's cache has expired, make a pass before the next request.  [default: yes]",
    ),
    click.option("--max-turns", type=click.IntRange(min=1), metavar="N", help="At most so many requests."),
    click.option("--max-cost", type=click.FloatRange(min=0), metavar="DOLLARS", help="Stop when this is spent."),
    click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Stop when so many tokens are used."),
    click.option("--max-time", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop after that time."),
    click.option("--store", metavar="URL", help="Where sessions and tasks are, if not where the workspace says."),
)
"""The fields of `AgentOptions`, and the store."""
