"""Child processes of the event loop that lead a group of their own."""

import asyncio
import os
import signal
from contextlib import suppress


async def exit_code(process: asyncio.subprocess.Process) -> int:
    """The exit code. `Process.wait` of some Pythons also waits for the pipes, which a child may keep open."""
    while process.returncode is None:
        await asyncio.sleep(0.003)
    return process.returncode


def kill_group(group: int, number: signal.Signals = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def close_pipes(process: asyncio.subprocess.Process) -> None:
    """Close the pipes, which may not have noticed yet that their other ends are gone."""
    process._transport.close()  # type: ignore[attr-defined]
