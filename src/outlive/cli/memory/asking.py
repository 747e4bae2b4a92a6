"""A model that answers single questions, for commands outside of a conversation."""

import asyncio
from collections.abc import Callable

import click

from outlive.agent.runtime import whole_reply
from outlive.config import Workspace
from outlive.config.dotenv import DotEnv
from outlive.messages import Message, Text, plain_text
from outlive.models.resolve import resolve
from outlive.request import Request


def asker(model: str) -> Callable[[str], str]:
    """Return a function that asks the named model. It raises ModelError if there is no answer."""
    dotenv = DotEnv(Workspace.find())
    if notice := dotenv.notice():
        click.echo(notice, err=True)

    async def ask(prompt: str) -> str:
        chosen = resolve(model, environment=dotenv.environment())
        try:
            reply = await whole_reply(chosen, Request("", (), (Message("user", (Text(prompt),)),), "", 0))
        finally:
            await chosen.close()
        return plain_text(reply.blocks)

    return lambda prompt: asyncio.run(ask(prompt))
