"""The routes of replays. Nothing in the workspace is changed, so they need no control."""

from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from outlive.agent.policies import policy_named
from outlive.config.settings import MIN_WINDOW
from outlive.context.policy import POLICIES, Policy
from outlive.messages import plain_text
from outlive.printable import clean, one_line
from outlive.replay.cache_misses import CacheAccount
from outlive.replay.recording import Recording
from outlive.replay.report import Pass, ReplayTurn
from outlive.web.api import HttpProblem, bad_request, form_of, route
from outlive.web.replay.recordings import Recordings, parsed, received, recorded_session
from outlive.web.replay.runs import Played, ReplayRun, ReplayRuns
from outlive.web.workspaces import ServedWorkspace, Workspaces

LARGEST_WINDOW = 2_000_000  # above all models of today
MOST_POINTS = 600
"""Turns of the curve that one answer holds."""
MOST_PASSES = 300  # listed; a small window in a long session has thousands
MOST_LEFT = 12  # units of one pass, the first ones
MOST_MISSES = 100  # of the cache, listed


def replay_routes(workspaces: Workspaces, recordings: Recordings, runs: ReplayRuns) -> list[Route]:
    replay = ReplayRoutes(workspaces, recordings, runs)
    base = "/api/w/{workspace}/replay"
    return [
        Route(base + "/policies", route(replay.policies)),
        Route(base + "/recordings", route(replay.upload), methods=["POST"]),
        Route(base + "/recordings/of-session", route(replay.of_session), methods=["POST"]),
        Route(base + "/recordings/{recording}/forget", route(replay.forget), methods=["POST"]),
        Route(base + "/runs", route(replay.start), methods=["POST"]),
        Route(base + "/runs/{run}", route(replay.progress)),
        Route(base + "/runs/{run}/cancel", route(replay.cancel), methods=["POST"]),
        Route(base + "/runs/{run}/{policy}", route(replay.details)),
    ]


class ReplayRoutes:
    """One method a route."""

    def __init__(self, workspaces: Workspaces, recordings: Recordings, runs: ReplayRuns) -> None:
        self._workspaces = workspaces
        self._recordings = recordings
        self._runs = runs

    async def policies(self, request: Request) -> object:
        workspace = self._workspaces.of(request)
        return {"policies": [policy.name for policy in await self._workspaces.run(lambda: _policies(workspace))]}

    async def upload(self, request: Request) -> object:
        """A transcript of any known format as the body."""
        self._workspaces.of(request)
        path = await received(request.stream(), request.query_params.get("name", ""))
        return self._kept(await self._workspaces.run(lambda: parsed(path)))

    async def of_session(self, request: Request) -> object:
        workspace, session = self._workspaces.of(request), (await form_of(request)).get("session")
        if not isinstance(session, str):
            raise bad_request("session is not a text")
        return self._kept(await self._workspaces.run(lambda: recorded_session(workspace.stores.logs, session)))

    async def forget(self, request: Request) -> object:
        self._recordings.forget(request.path_params["recording"])
        return {}

    async def start(self, request: Request) -> object:
        workspace, form = self._workspaces.of(request), await form_of(request)
        recording = self._recordings.get(str(form.get("recording", "")))
        window = form.get("window")
        if not isinstance(window, int) or not MIN_WINDOW <= window <= LARGEST_WINDOW:
            raise bad_request(f"the window is a number from {MIN_WINDOW:,} to {LARGEST_WINDOW:,}")
        policies = await self._workspaces.run(lambda: _policies(workspace))
        return _progress(self._runs.start(recording, window, policies))

    async def progress(self, request: Request) -> object:
        return _progress(self._runs.get(request.path_params["run"]))

    async def cancel(self, request: Request) -> object:
        self._runs.get(request.path_params["run"]).cancelled.set()
        return {}

    async def details(self, request: Request) -> object:
        """Sizes over time, passes and cache misses under one policy."""
        played = self._runs.get(request.path_params["run"]).played.get(request.path_params["policy"])
        if played is None:
            raise HttpProblem(404, "this policy has not been played yet", code="unknown_policy")
        report = played.report
        passes = [_pass(one) for one in report.passes[:MOST_PASSES]]
        return {
            **_summary(played),
            "curve": _curve(report.turns),
            "pass_list": passes,
            "refusals": [{"turn": one.turn, "why": clean(one.why)} for one in report.refused[:MOST_PASSES]],
            "recorded_cache": _account(report.recorded_cache),
        }

    def _kept(self, recording: Recording) -> dict[str, Any]:
        return {
            "recording": self._recordings.keep(recording),
            "session": one_line(recording.id, 200),
            "format": recording.format,
            "model": one_line(recording.model, 200),
            "task": one_line(recording.task or _first_words(recording), 300),
            "messages": len(recording.messages),
            "turns": len(recording.turns),
            "skipped": [one_line(text, 300) for text in recording.skipped[:20]],
        }


def _first_words(recording: Recording) -> str:
    """What the user said first."""
    texts = (plain_text(one.message.blocks) for one in recording.messages if one.message.role == "user")
    return next(filter(None, texts), "")


def _policies(workspace: ServedWorkspace) -> list[Policy]:
    """The policies of the engine, then those of the workspace's settings."""
    own = workspace.config.context_settings()["policies"]
    return [policy_named(name, own) for name in dict.fromkeys([*POLICIES, *own])]


def _progress(run: ReplayRun) -> dict[str, object]:
    return {
        "run": run.id,
        "status": run.status,
        "window": run.window,
        "done": run.done,
        "total": run.total,
        "problem": clean(run.problem),
        "policies": [_summary(played) for played in list(run.played.values())],
    }


def _summary(played: Played) -> dict[str, object]:
    report, survival = played.report, played.survival
    return {
        "policy": report.policy,
        "cost": round(report.cost),
        "plain_cost": round(report.plain_cost),
        "ratio": report.ratio,
        "cached": report.cached,
        "largest": report.largest,
        "plain_largest": report.plain_largest,
        "passes": len(report.passes),
        "refused": len(report.refused),
        "names_used": survival.used,
        "names_in_view": survival.in_view,
        "survives": survival.share,
    }


def _curve(turns: tuple[ReplayTurn, ...]) -> list[dict[str, object]]:
    """Points over time; each turn with a pass is among them."""
    step = max(1, len(turns) // MOST_POINTS)
    shown = [turn for at, turn in enumerate(turns) if turn.passes or at % step == 0 or at == len(turns) - 1]
    return [
        {"turn": one.turn, "tokens": one.tokens, "plain": one.plain_tokens, "passes": one.passes}
        for one in shown[: 4 * MOST_POINTS]
    ]


def _pass(one: Pass) -> dict[str, object]:
    return {
        "turn": one.turn,
        "reason": one.reason,
        "rungs": one.rungs,
        "before": one.before,
        "after": one.after,
        "left_tokens": one.left_tokens,
        "left": [
            {"what": one_line(left.what, 200), "tokens": left.before - left.after} for left in one.left[:MOST_LEFT]
        ],
        "left_more": max(0, len(one.left) - MOST_LEFT),
    }


def _account(account: CacheAccount | None) -> dict[str, object] | None:
    if account is None:
        return None
    count, tokens, cost = account.missed()
    return {
        "calls": account.calls,
        "share": account.share,
        "missed": count,
        "missed_tokens": tokens,
        "missed_cost": cost,
        "misses": [
            {"call": one.call, "gap": one.gap, "tokens": one.tokens, "reason": one.reason, "cost": one.cost}
            for one in account.misses[:MOST_MISSES]
        ],
    }
