"""`outlive acp`. The protocol's package is loaded only to run it."""

import asyncio
import os
import stat
from typing import Any

import click

from outlive.errors import ConfigError
from outlive.options import agent_options


@click.command(name="acp")
@agent_options
def acp(store: str | None, **options: Any) -> None:
    """Work inside of an editor that speaks the Agent Client Protocol: Zed, JetBrains IDEs, Neovim and others.

    The editor starts this command and talks to it over standard input and output. It chooses the folder of each
    session; settings, trust and stores are those of that folder. See docs/editors.md.

    \b
    Examples:
      outlive acp
      outlive acp --model anthropic:claude-sonnet-5-5 --permission-mode plan
      outlive acp --allow "bash(pytest*)" --sandbox
    """
    for number, name in ((0, "input"), (1, "output")):
        kind = os.fstat(number).st_mode
        if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
            raise click.UsageError(f"standard {name} is not a pipe: an editor starts this command (docs/editors.md)")
    try:
        from outlive.acp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("acp", "pydantic"):
            raise
        raise ConfigError(
            "the package agent-client-protocol is not installed", hint="install it with: pip install 'outlive[acp]'"
        ) from None
    from outlive.agent.factory import AgentOptions

    asyncio.run(serve(AgentOptions(**options), store))
