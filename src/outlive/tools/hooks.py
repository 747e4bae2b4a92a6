"""The user's own commands, run at certain events with JSON on standard input.

A hook blocks with `{"block": "why"}` or with exit code 2 (standard error is the reason), and adds context for the
model with `{"context": "…"}`. A hook that fails, times out or prints something else blocks before a tool and before a
prompt (it fails closed); elsewhere the failure is only reported.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlive.errors import ConfigError
from outlive.secrets import Masker, mask
from outlive.tools.permissions.sandbox import passing_shell, shell
from outlive.tools.processes.children import close_pipes, exit_code, kill_group
from outlive.tools.processes.watchdog import WATCHDOG
from outlive.tools.runner import HookAnswer

DEFAULT_TIMEOUT_SECONDS = 60.0  # the call waits for the hook
MAX_OUTPUT_BYTES = 64 * 1024  # more is not an answer in JSON: the hook counts as failed
MAX_MESSAGE_CHARS = 8_000  # what a hook says goes to the model
BLOCKING_EXIT_CODE = 2  # as in Claude Code, so that its hooks work here
BLOCKING_EVENTS = ("PreToolUse", "UserPromptSubmit")
"""Events at which a failing hook blocks."""
_GATE = 'read -r _ && exec "$@"'
"""The first line of input opens the gate; the hook gets the rest."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A command for an event."""

    command: str
    matcher: re.Pattern[str] | None
    """Such as `bash|edit_file`, for the whole name of a tool."""
    timeout: float


class CommandHooks:
    """The hooks of `outlive.toml`, run in order until one blocks."""

    def __init__(
        self, config: Mapping[str, Sequence[Mapping[str, Any]]], root: Path, *, session: str = "", mask: Masker = mask
    ) -> None:
        self.root = root
        self._mask = mask
        self.session = session
        self._hooks = {event: [_hook(event, entry) for entry in entries] for event, entries in config.items()}

    async def fire(self, event: str, **about: Any) -> HookAnswer:
        """Run the hooks of an event."""
        context: list[str] = []
        tool = about.get("tool")
        for hook in self._hooks.get(event, ()):
            if hook.matcher and tool is not None and not hook.matcher.fullmatch(str(tool)):
                continue
            answer = await self._ask(hook, event, about)
            context += [answer.context] if answer.context else []
            if answer.blocked:
                return HookAnswer(answer.blocked, "\n".join(context))
        return HookAnswer("", "\n".join(context))

    async def _ask(self, hook: Hook, event: str, about: Mapping[str, Any]) -> HookAnswer:
        form = {"event": event, "session": self.session, "cwd": str(self.root), **about}
        given = json.dumps(form, ensure_ascii=False, default=str).encode("utf-8", errors="replace")
        try:
            code, out, err = await _run(hook, given, self.root)
        except TimeoutError:
            return _failed(event, hook, f"it took longer than {hook.timeout:g} s and was stopped")
        except OSError as error:
            return _failed(event, hook, f"it cannot be started ({error.strerror})")
        complaint = self._mask(err.decode("utf-8", errors="replace").strip())[:MAX_MESSAGE_CHARS]
        if code == BLOCKING_EXIT_CODE:
            return HookAnswer(complaint or f"{hook.command} said no, without a reason")
        if code != 0:
            return _failed(event, hook, f"exit code {code} {complaint}".strip())
        return self._understood(event, hook, out)

    def _understood(self, event: str, hook: Hook, out: bytes) -> HookAnswer:
        text = out.decode("utf-8", errors="replace").strip()
        if not text:
            return HookAnswer()
        if len(out) > MAX_OUTPUT_BYTES:
            return _failed(event, hook, f"it said more than {MAX_OUTPUT_BYTES // 1024} KB")
        try:
            form = json.loads(text)
        except (ValueError, RecursionError):
            form = None
        if not isinstance(form, dict) or not all(isinstance(form.get(key, ""), str) for key in ("block", "context")):
            output = self._mask(text)[:200]
            return _failed(event, hook, f'it did not answer with {{"block": …}} or {{"context": …}}: {output}')
        blocked, context = (self._mask(form.get(key, ""))[:MAX_MESSAGE_CHARS] for key in ("block", "context"))
        if "block" in form and not blocked:
            blocked = f"{hook.command} said no, without a reason"
        return HookAnswer(blocked, context)


def _hook(event: str, entry: Mapping[str, Any]) -> Hook:
    try:
        matcher = re.compile(entry["matcher"]) if entry.get("matcher") not in (None, "", "*") else None
    except re.error as error:
        raise ConfigError(f"[[hooks.{event}]] matcher = {entry['matcher']!r} is not a pattern ({error})") from None
    timeout = float(entry.get("timeout", DEFAULT_TIMEOUT_SECONDS))
    if not 0 < timeout <= 3600:
        raise ConfigError(f"[[hooks.{event}]] timeout = {timeout:g}; it is in seconds, above 0 and up to 3600")
    return Hook(str(entry["command"]), matcher, timeout)


async def _run(hook: Hook, given: bytes, root: Path) -> tuple[int, bytes, bytes]:
    """Exit code, output and errors, both bounded. Everything that it started ends with it, and with us."""
    process = await asyncio.create_subprocess_exec(
        *(*passing_shell(), "-c", _GATE, "outlive", shell(), "-c", hook.command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=root,
        start_new_session=True,
    )
    assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - started with pipes
    with WATCHDOG.watching(process.pid):
        talk = asyncio.gather(
            _write(process.stdin, b"\n" + given), _bounded(process.stdout), _bounded(process.stderr)
        )
        try:
            async with asyncio.timeout(hook.timeout):
                code = await exit_code(process)
                kill_group(process.pid)
                _, out, err = await talk
                return code, out, err
        finally:
            if process.returncode is None:  # else its number may be reused
                kill_group(process.pid)
            talk.cancel()
            await asyncio.gather(talk, return_exceptions=True)
            await exit_code(process)
            close_pipes(process)


async def _write(pipe: asyncio.StreamWriter, given: bytes) -> None:
    """Write the input; the hook need not read it."""
    with suppress(BrokenPipeError, ConnectionResetError):
        pipe.write(given)
        await pipe.drain()
    with suppress(BrokenPipeError, ConnectionResetError):
        pipe.close()
        await pipe.wait_closed()


async def _bounded(pipe: asyncio.StreamReader) -> bytes:
    """The first bytes of a pipe; the rest is read and dropped, so that the writer does not block."""
    kept = bytearray()
    while part := await pipe.read(MAX_OUTPUT_BYTES):
        kept += part[: MAX_OUTPUT_BYTES + 1 - len(kept)]
    return bytes(kept)


def _failed(event: str, hook: Hook, why: str) -> HookAnswer:
    message = f"the hook {hook.command!r} for {event} failed: {why}"
    return HookAnswer(blocked=message) if event in BLOCKING_EVENTS else HookAnswer(context=message)
