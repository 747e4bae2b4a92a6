"""The fleet in the browser: what workers do, and with control what a person tells them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from outlive.web.api import bad_request, form_of, route
from outlive.web.workspaces import ServedWorkspace, Workspaces
from outlive.work.control import FleetControl
from outlive.work.overview import FleetOverview, overview
from outlive.work.shared.board import FleetBoard

BASE = "/api/w/{workspace}/fleet"
DRAIN_GRACE = timedelta(seconds=60)


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str


class _Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class FleetPage(msgspec.Struct, frozen=True):
    now: float
    fleet: FleetOverview


def fleet_routes(workspaces: Workspaces) -> list[Route]:
    @route
    async def show(request: Request) -> object:
        control = _control(workspaces.of(request))
        found = await workspaces.run(lambda: overview(control.graph, control.board))
        return FleetPage(found.at.timestamp(), found)

    @route
    async def tell_task(request: Request) -> object:
        """`answer`, `retry` or `cancel` a task."""
        workspaces.require_control()
        control, task = _control(workspaces.of(request)), request.path_params["task"]
        verb, form = request.path_params["verb"], await form_of(request)
        if verb not in _TASK_VERBS:
            raise bad_request(f"a task takes {', '.join(_TASK_VERBS)}")
        told = await workspaces.run(lambda: _TASK_VERBS[verb](control, task, form))
        return {"task": told}

    @route
    async def drain(request: Request) -> object:
        workspaces.require_control()
        control, worker = _control(workspaces.of(request)), request.path_params["worker"]
        _read(await form_of(request), _Nothing)
        await workspaces.run(lambda: control.drain(worker, DRAIN_GRACE))
        return {"worker": worker}

    return [
        Route(BASE, show, methods=["GET"]),
        Route(BASE + "/tasks/{task:int}/{verb}", tell_task, methods=["POST"]),
        Route(BASE + "/workers/{worker}/drain", drain, methods=["POST"]),
    ]


def _answer(control: FleetControl, task: int, form: Any) -> int:
    return control.answer(task, _read(form, _Answer).text).id


def _retry(control: FleetControl, task: int, form: Any) -> int:
    _read(form, _Nothing)
    return control.retry(task).id


def _cancel(control: FleetControl, task: int, form: Any) -> int:
    _read(form, _Nothing)
    return control.cancel(task).id


_TASK_VERBS: dict[str, Callable[[FleetControl, int, Any], int]] = {
    "answer": _answer,
    "retry": _retry,
    "cancel": _cancel,
}


def _control(workspace: ServedWorkspace) -> FleetControl:
    return FleetControl(workspace.graph, FleetBoard(workspace.stores.fleet), workspace.stores.logs)


def _read(form: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(form, kind)
    except msgspec.ValidationError as error:
        raise bad_request(str(error)) from None
