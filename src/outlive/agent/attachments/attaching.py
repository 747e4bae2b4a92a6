"""Puts together what a prompt names: files and folders after `@`, and a command that the user wrote."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from outlive.agent.attachments.mentions import MAX_MENTIONS, Mention, mentions
from outlive.messages import Block, Text, ToolCall
from outlive.origin import tagged
from outlive.printable import one_line
from outlive.tools.builtin.glob import Glob
from outlive.tools.builtin.read_file import ReadFile
from outlive.tools.custom_commands import CustomCommand
from outlive.tools.protocol import ToolOutcome
from outlive.tools.runner import Runner
from outlive.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from outlive.agent.runtime import Runtime

NOT_PUT_IN = "not put in: "
"""How the texts begin that say what is missing."""
MAX_CHARS = 1_000_000
"""Characters that one prompt puts in."""


class Attachments:
    """Reads what a prompt names, with the tools of the agent: their fence, deny rules, hooks and masking."""

    def __init__(self, agent: "Runtime") -> None:
        self._agent = agent

    async def __call__(self, words: str) -> tuple[Block, ...]:
        """The blocks that go with the user's words."""
        command, problems = await asyncio.to_thread(self._command, words)
        blocks: list[Block] = [command] if command else []
        more = command.text if command else ""
        named = await asyncio.to_thread(mentions, f"{words}\n{more}", self._agent.parts.root)
        problems += [f"@{mention.label}: a prompt takes {MAX_MENTIONS} files" for mention in named[MAX_MENTIONS:]]
        chars = 0
        for mention in named[:MAX_MENTIONS]:
            outcome = await self._read(mention)
            chars += len(outcome.text)
            if outcome.is_error or chars > MAX_CHARS:
                reason = outcome.text if outcome.is_error else "there is no room left in this prompt"
                problems.append(f"@{mention.label}: {reason}")
            else:
                blocks += _attached(mention, outcome)
        return (*blocks, *_told(problems))

    def _command(self, words: str) -> tuple[Text | None, list[str]]:
        """The text of the user's own command that the words begin with, and what of it does not count."""
        commands = self._agent.parts.commands
        name, _, arguments = words.lstrip().partition(" ") if words.lstrip()[:1] == "/" else ("", "", "")
        if commands is None or not name or "\n" in name:
            return None, []
        found = commands.found().get(name[1:])
        if found is None:
            came = commands.untrusted(name[1:])
            return None, [f"{name}: {untrusted_words(came)}"] if came else []
        text = f"{name}, from {found.path}\n{found.filled(arguments.strip())}"
        return Text(tagged("command", text), "harness"), [
            f"{wish} of {name}, which does not count" for wish in found.ignored
        ]

    async def _read(self, mention: Mention) -> ToolOutcome:
        if mention.is_folder:
            return await self._call(Glob.name, pattern="**/*", path=mention.path)
        lines = {"offset": mention.first, "limit": mention.last - mention.first + 1} if mention.first else {}
        return await self._call(ReadFile.name, path=mention.path, **lines)

    async def _call(self, tool: str, **given: Any) -> ToolOutcome:
        parts = self._agent.parts
        runner = Runner(Toolbox([ReadFile(), Glob()]), self._agent.context, parts.gate, parts.hooks)
        outcome, _ = await runner.run(ToolCall("", tool, given))
        return outcome


def untrusted_words(command: CustomCommand) -> str:
    return f"{command.path} came with the project and is not trusted. Look at it, then: outlive trust"


def _attached(mention: Mention, outcome: ToolOutcome) -> Iterable[Block]:
    if outcome.images:
        return Text(tagged("attached-picture", mention.label), "stdin"), *outcome.images
    tag = "attached-folder" if mention.is_folder else "attached-file"
    return (Text(tagged(tag, f"{mention.label}\n{outcome.text}"), "stdin"),)


def _told(problems: Iterable[str]) -> tuple[Block, ...]:
    """What was not put in, for the user and the model."""
    return tuple(Text(tagged("harness", NOT_PUT_IN + one_line(text, 400)), "harness") for text in problems)
