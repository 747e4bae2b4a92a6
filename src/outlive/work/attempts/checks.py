"""The checks that a task has to pass: those of the settings, and those that the task names itself."""

from dataclasses import replace

from outlive.agent.runtime import Runtime
from outlive.events import Checkpointed
from outlive.stores.tasks.records import Task
from outlive.tools.builtin.bash import Bash, BashInput
from outlive.tools.errors import ToolError
from outlive.work.attempts.held import HeldTask

CHECKS = "checks"
"""The metadata of a task with commands of its own."""
CHECK_LABEL = "check"
"""The entries of checks in the log of a session."""
MAX_CHECKS = 20  # of a task: they come from its metadata, and each runs a command


def checks_of(task: Task) -> list[str]:
    """The commands that a task names. Anybody may have written them."""
    named = task.metadata.get(CHECKS)
    found = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    return [text for text in found if isinstance(text, str) and text.strip()][:MAX_CHECKS]


async def failing(held: HeldTask, runtime: Runtime) -> list[tuple[str, str]]:
    """Run the checks in the worktree; returns command and output of those that fail.

    Those of the settings are the user's own. Those of the task run only if the agent may run them.
    """
    wrong = []
    for number, command in enumerate(held.parts.options.checks):
        wrong += await _run(held, runtime, command, f"check-{held.token}-{number}")
    for number, command in enumerate(checks_of(held.task)):
        verdict = await runtime.parts.gate.allows(Bash(), BashInput(command), runtime.context)
        if verdict.allowed:
            wrong += await _run(held, runtime, command, f"task-check-{held.token}-{number}")
        else:
            wrong.append((command, f"this check of the task was not run: {verdict.reason}"))
    return wrong


async def _run(held: HeldTask, runtime: Runtime, command: str, call: str) -> list[tuple[str, str]]:
    given = BashInput(command, timeout=held.parts.options.check_time)
    try:
        outcome = await Bash().run(given, replace(runtime.context, call_id=call))
    except ToolError as error:
        return [(command, str(error))]
    failed = bool(outcome.exit_code or outcome.is_error)
    about = {"command": command, "exit_code": outcome.exit_code, "failed": failed}
    runtime.session.log(Checkpointed, label=CHECK_LABEL, data=about)
    return [(command, runtime.session.masked(outcome.text))] if failed else []
