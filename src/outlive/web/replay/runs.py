"""Replays of a recording under several policies: one at a time, in a thread, with progress; they can be cancelled."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from msgspec import Struct, field

from outlive.context.policy import Policy
from outlive.errors import OutliveError
from outlive.replay.player import Replay
from outlive.replay.recording import Recording
from outlive.replay.report import Account, ReplayReport
from outlive.web.api import HttpProblem
from outlive.web.replay.survival import Survival, SurvivalCount

MOST_WAITING = 3  # each replay takes a processor for seconds to minutes
MOST_KEPT = 6  # results in memory; the oldest goes
MOST_TURNS = 20_000
"""Model calls of one recording that are played; a longer one is refused."""
Status = Literal["waiting", "running", "done", "cancelled", "failed"]


class Played(Struct, frozen=True):
    report: ReplayReport
    survival: Survival


class ReplayRun(Struct):
    """One recording at one window."""

    id: str
    window: int
    total: int
    """Steps of all policies."""
    status: Status = "waiting"
    done: int = 0
    problem: str = ""
    played: dict[str, Played] = field(default_factory=dict)
    cancelled: threading.Event = field(default_factory=threading.Event)


class ReplayRuns:
    """The last few runs of a server."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="outlive replay")
        self._runs: OrderedDict[str, ReplayRun] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, recording: Recording, window: int, policies: Sequence[Policy]) -> ReplayRun:
        """Begin a run. Raises HttpProblem if too many wait, or the recording is too long."""
        turns = len(recording.turns)
        if turns > MOST_TURNS:
            hint = "outlive replay in a terminal takes it"
            raise HttpProblem(413, f"{turns:,} model calls are too many for the page", hint=hint, code="too_large")
        run = ReplayRun(secrets.token_hex(8), window, turns * len(policies))
        with self._lock:
            if sum(one.status in ("waiting", "running") for one in self._runs.values()) >= MOST_WAITING:
                raise HttpProblem(409, "other replays are running", hint="cancel one, or wait", code="busy")
            self._runs[run.id] = run
            ended = [one.id for one in self._runs.values() if one.status not in ("waiting", "running")]
            for id in ended[: max(0, len(self._runs) - MOST_KEPT)]:
                del self._runs[id]
        self._thread.submit(_play, run, recording, policies)
        return run

    def get(self, id: str) -> ReplayRun:
        try:
            return self._runs[id]
        except KeyError:
            raise HttpProblem(404, "there is no such replay any more", code="unknown_run") from None

    def close(self) -> None:
        for run in list(self._runs.values()):
            run.cancelled.set()
        self._thread.shutdown(cancel_futures=True)


def _play(run: ReplayRun, recording: Recording, policies: Sequence[Policy]) -> None:
    run.status = "running"
    try:
        for policy in policies:
            replay = Replay(recording, window=run.window, policy=policy)
            account, survival = Account(replay), SurvivalCount(recording)
            for step in replay.steps():
                if run.cancelled.is_set():
                    run.status = "cancelled"
                    return
                account.take(step)
                survival.take(step)
                run.done += 1
            run.played[policy.name] = Played(account.report(window=run.window, policy=policy.name), survival.found)
    except OutliveError as error:
        run.status, run.problem = "failed", error.message
    except BaseException:
        run.status, run.problem = "failed", "the replay met an error that it does not know"
        raise
    else:
        run.status = "done"
