"""A model for one question at a time, for commands that are no conversation."""

import asyncio
from collections.abc import Callable

from outlive.config import Workspace, environment
from outlive.context.engine import Request
from outlive.messages import Message, Text, plain_text
from outlive.models.choose import choose
from outlive.session.agent import whole_reply


def asker(model: str) -> Callable[[str], str]:
    """Asks the model of that name. Raises ModelError when there is no answer."""

    async def ask(prompt: str) -> str:
        chosen = choose(model, environment=environment(Workspace.find().root))
        try:
            reply = await whole_reply(chosen, Request("", (), (Message("user", (Text(prompt),)),), "", 0))
        finally:
            await chosen.close()
        return plain_text(reply.blocks)

    return lambda prompt: asyncio.run(ask(prompt))
