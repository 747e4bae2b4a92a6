"""Commands that the user typed after `!`. They run as those of `bash` do; the model sees them with its next request.

Nobody is asked, and neither deny rules nor plan mode count: these bind the agent, and this is the user. Sandbox,
folder, time limit and masking are those of `bash`.
"""

import asyncio
from dataclasses import replace

from outlive.agent.commands.started import SHELL_LABEL
from outlive.agent.session import Session
from outlive.events import Checkpointed, Event, Undone, UserSaid
from outlive.messages import Text
from outlive.origin import tagged
from outlive.tools.builtin.bash import Bash, BashInput
from outlive.tools.protocol import ToolContext, ToolOutcome

MAX_STOPPED_CHARS = 8_000
"""Characters kept of the output of a command that was stopped."""
STOPPED = "[stopped by the user; what it had done stays done]"
CUT_OFF = "[the process ended while this ran; it may have done all, part or none of its work]"


class ShellResults:
    """The commands of the user that the model was not told yet, from the events of a log."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[int, Text]] = {}

    def take(self, event: Event) -> None:
        match event:
            case Checkpointed() if event.label == SHELL_LABEL:
                command, text = str(event.data.get("command")), str(event.data.get("text", CUT_OFF))
                block = Text(tagged("user-shell", f"\n$ {command}\n{text}\n"), "stdin")
                self._waiting[str(event.data.get("call"))] = event.id, block
            case UserSaid():
                self._waiting.clear()
            case Undone(what="after"):
                self._waiting = {call: known for call, known in self._waiting.items() if known[0] <= event.target}
            case _:
                pass

    @property
    def blocks(self) -> tuple[Text, ...]:
        """Commands and output as data for the next user turn."""
        return tuple(block for _, block in self._waiting.values())


async def run_for_user(command: str, context: ToolContext, session: Session) -> ToolOutcome:
    """Run a command in the foreground and log it. Raises ToolError if it cannot start."""
    printed: list[str] = []
    tell = context.output

    def show(call: str, text: str) -> None:
        printed.append(text)
        tell(call, text)

    about = {"call": context.call_id, "command": command}
    session.log(Checkpointed, label=SHELL_LABEL, data=about)
    text = "[not run]"
    code: int | None = None
    try:
        outcome = await Bash().run(BashInput(command), replace(context, output=show))
        text, code = await asyncio.to_thread(context.mask, outcome.text), outcome.exit_code
        return ToolOutcome(text, outcome.is_error, code)
    except asyncio.CancelledError:
        text = f"{''.join(printed)[-MAX_STOPPED_CHARS:].rstrip()}\n{STOPPED}".lstrip()
        raise
    finally:
        session.log(Checkpointed, label=SHELL_LABEL, data={**about, "text": text, "exit_code": code})
