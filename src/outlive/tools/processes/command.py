"""A running command: in a process group of its own, read while it prints, ended as a whole.

One thread reads and one waits, independent of the event loop. The command has ended when the started program has,
even if a child keeps the output open. The program waits behind a gate until its process is recorded, and ends with
us, also if we are killed.
"""

import asyncio
import os
import secrets
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from outlive.events import Process
from outlive.secrets import Masker
from outlive.tools.permissions.sandbox import Launch, passing_shell
from outlive.tools.processes.output import Edges, MaskedBytes, Spool
from outlive.tools.processes.process_table import CALL_VARIABLE, carries, exists, identify
from outlive.tools.processes.process_table import running as running_processes
from outlive.tools.processes.programs import careful
from outlive.tools.processes.watchdog import WATCHDOG

PROVIDER_KEYS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"})
"""Hidden from commands: these keys pay for the model."""
SPOOL_FOLDER = ".task_outputs/commands"
KILL_GRACE_SECONDS = 2.0
"""Seconds between SIGTERM and SIGKILL."""
WORD_DELAY_SECONDS = 0.2
"""Seconds after which complete words of an unfinished line are shown."""
LINGER_SECONDS = 0.2
"""Seconds to wait for more output after the program has ended."""
_GATE = 'read -r _ && exec "$@" </dev/null'
"""A line on standard input opens the gate; if we die before, nothing is run."""


class RunningCommand:
    """A running or finished command. Its methods may be called from any thread."""

    def __init__(
        self,
        launch: Launch,
        *,
        text: str,
        root: Path,
        marked: str,
        timeout: float | None,
        mask: Masker,
        live: Callable[[bytes], None] | None,
        record: Callable[[Process], object],
    ) -> None:
        """Start it in `root`. Its environment is `marked`, its output is masked before it is kept or shown, and
        `record` is called with its process before it does anything."""
        self.text = text
        self.timed_out = False
        self.spool = Spool(root / SPOOL_FOLDER / f"{secrets.token_hex(6)}.txt")
        self.live = live
        """Called with masked output on the reading thread; None once nobody watches."""
        self._masked = MaskedBytes(mask.stream())
        self._unread = Edges()
        self._lock = threading.Lock()
        self._exited, self._silent = threading.Event(), threading.Event()
        self._stopping, self._stopped = threading.Event(), threading.Event()
        self._ended: Future[None] = Future()
        self._launch = launch
        self._marked = marked
        out = self._start(root, record)
        self._timer = None if timeout is None else threading.Timer(timeout, self._expire)
        threads = [threading.Thread(target=self._read, args=(out,)), threading.Thread(target=self._wait)]
        for thread in [*threads, *filter(None, [self._timer])]:
            thread.daemon = True
            thread.start()

    def _start(self, root: Path, record: Callable[[Process], object]) -> int:
        """Start it behind its gate, record it, open the gate; returns the descriptor of its output."""
        variables = {name: value for name, value in os.environ.items() if name not in PROVIDER_KEYS}
        with ExitStack() as descriptors, ExitStack() as undo:
            descriptors.callback(self._launch.started)
            undo.callback(self._launch.ended)
            out, into = os.pipe()
            undo.callback(os.close, out)
            descriptors.callback(os.close, into)
            gate, opening = os.pipe()
            descriptors.callback(os.close, gate)
            with os.fdopen(opening, "wb", buffering=0) as pipe:
                self._popen = subprocess.Popen(  # noqa: S603 - running what the model asks for is what this is for
                    [*passing_shell(), "-c", _GATE, "outlive", *self._launch.argv],
                    pass_fds=self._launch.descriptors,
                    cwd=root,
                    env=careful(variables) | {CALL_VARIABLE: self._marked},
                    stdin=gate,
                    stdout=into,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                undo.callback(self._popen.wait)
                self.process = identify(self.pid)
                undo.callback(self.forget)
                WATCHDOG.watch(self.process)
                record(self.process)
                with suppress(BrokenPipeError):  # it was killed already
                    pipe.write(b"\n")
            undo.pop_all()
            return out

    # -- looking

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def running(self) -> bool:
        """Whether the program itself still runs."""
        return not self._exited.is_set()

    @property
    def held(self) -> bool:
        """Whether a process still holds its output open."""
        return not self._silent.is_set()

    @property
    def left_behind(self) -> bool:
        """Whether the program has ended but others of its group still run."""
        if self.running:
            return False
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return self.held
        if exists(self.pid):
            return False
        groups = [row.group for row in running_processes()]  # without zombies
        return not groups or self.pid in groups

    @property
    def exit_code(self) -> int | None:
        """None while it runs; 128 + number after a signal, as in a shell."""
        code = self._popen.returncode
        return code if code is None or code >= 0 else 128 - code

    def take(self) -> str:
        """The output since the last call."""
        with self._lock:
            self._keep(self._masked.release(all=not self.running))
            unread, self._unread = self._unread, Edges()
            return unread.text(self.spool.where)

    async def finished(self) -> None:
        """Wait until it has ended. Cancelling the wait does not end it."""
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: object) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(done.set)

        self._ended.add_done_callback(tell)
        await done.wait()

    # -- ending

    def end(self, grace: float = KILL_GRACE_SECONDS) -> None:
        """End the whole group with SIGTERM, then SIGKILL after at most `grace` seconds."""
        self._stopping.set()
        self._signal(signal.SIGTERM)
        until = time.monotonic() + grace
        if self._exited.wait(grace):
            self._silent.wait(max(0.0, until - time.monotonic()))
        self.kill()
        self._exited.wait(grace)
        self._silent.wait(LINGER_SECONDS)
        self._stopped.set()

    def kill(self) -> None:
        """Send SIGKILL to the whole group."""
        self._signal(signal.SIGKILL)

    def forget(self) -> None:
        """All of it has ended: the watchdog need not kill it."""
        WATCHDOG.leave(self.process)

    def _signal(self, number: signal.Signals) -> None:
        """Signal the group, its session, and what left both, unless the number of the group was reused."""
        ours = self._popen.returncode is None or not exists(self.pid)
        with suppress(ProcessLookupError, PermissionError):
            if ours:
                os.killpg(self.pid, number)
        for row in running_processes():
            job = ours and row.session == self.pid  # a shell put it into a group of its own
            if row.group != self.pid and (job or carries(row.pid, self._marked)):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(row.pid, number)

    def _expire(self) -> None:
        if self.running:
            self.timed_out = True
            self.end()

    # -- the threads

    def _read(self, out: int) -> None:
        poll = select.poll()
        poll.register(out, select.POLLIN)
        waiting = False  # for the rest of a line, whose complete words can be shown meanwhile
        while True:
            if waiting and not poll.poll(WORD_DELAY_SECONDS * 1000):
                waiting = False
                self._show(lambda: self._masked.release(all=False))
            elif data := os.read(out, 1 << 16):
                waiting = True
                self._show(partial(self._masked.add, data))
            else:
                break
        os.close(out)
        self._show(lambda: self._masked.release(all=True))
        with self._lock:
            self.spool.close()
        self._silent.set()

    def _show(self, masked: Callable[[], bytes]) -> None:
        with self._lock:
            shown = self._keep(masked())
        if shown and (live := self.live) is not None:
            live(shown)

    def _keep(self, shown: bytes) -> bytes:
        self._unread.add(shown)
        self.spool.add(shown)
        return shown

    def _wait(self) -> None:
        self._popen.wait()
        self._launch.ended()
        self._exited.set()
        if self._timer is not None:
            self._timer.cancel()
        self._silent.wait(LINGER_SECONDS)
        if self._stopping.is_set():
            self._stopped.wait(2 * KILL_GRACE_SECONDS)
        self._ended.set_result(None)
