"""The routes of tasks."""

from typing import Any, get_args

from starlette.requests import Request
from starlette.routing import Route

from outlive.stores.tasks.protocol import SortKey
from outlive.web.api import HttpProblem, bad_request, form_of, number, route
from outlive.web.excerpt import MOST, excerpt
from outlive.web.tasks import changes
from outlive.web.tasks.detail import TEXTS, detail, text_of
from outlive.web.tasks.picture import Pictures
from outlive.web.tasks.rows import Filter, board, page
from outlive.web.tasks.trail import trail
from outlive.web.workspaces import ServedWorkspace, Workspaces

PAGE = 100
"""Tasks or changes of one answer, unless another number is asked for."""
LONGEST_FILTER = 200  # as long as a subject
BASE = "/api/w/{workspace}/tasks"
ONE = BASE + "/{task:int}"


def tasks_routes(workspaces: Workspaces) -> list[Route]:
    return [*_lists(workspaces), *_one(workspaces), *_changes(workspaces)]


def _lists(workspaces: Workspaces) -> list[Route]:
    pictures: dict[str, Pictures] = {}

    @route
    async def list_tasks(request: Request) -> object:
        workspace = workspaces.of(request)
        query = _filter(request).query(_sort(request), descending=_flag(request, "descending"))
        skip, limit = number(request, "skip"), number(request, "limit", PAGE, most=5 * PAGE)
        return await workspaces.run(lambda: page(workspace.stores.tasks, query, skip, limit))

    @route
    async def show_board(request: Request) -> object:
        workspace = workspaces.of(request)
        query, limit = _filter(request).query(), number(request, "limit", PAGE, most=5 * PAGE)
        return await workspaces.run(lambda: board(workspace.stores.tasks, query, limit))

    @route
    async def picture(request: Request) -> object:
        workspace = workspaces.of(request)
        drawn = pictures.setdefault(workspace.id, Pictures())
        finished, known = _flag(request, "finished"), request.query_params.get("known", "")
        return await workspaces.run(lambda: drawn.of(workspace.stores.tasks, finished=finished, known=known))

    @route
    async def all_changes(request: Request) -> object:
        return await _trail(workspaces, request, None)

    return [
        Route(BASE, list_tasks, methods=["GET"]),
        Route(BASE + "/board", show_board, methods=["GET"]),
        Route(BASE + "/graph", picture, methods=["GET"]),
        Route(BASE + "/history", all_changes, methods=["GET"]),
    ]


def _one(workspaces: Workspaces) -> list[Route]:
    @route
    async def show(request: Request) -> object:
        workspace, task = workspaces.of(request), request.path_params["task"]
        return await workspaces.run(lambda: workspace.stores.tasks.read(lambda tx: detail(tx, task)))

    @route
    async def more_text(request: Request) -> object:
        """The next part of a long field."""
        field, skip = request.query_params.get("field", ""), number(request, "skip", most=MOST)
        if field not in TEXTS:
            raise bad_request(f"field is one of {', '.join(TEXTS)}")
        workspace, task = workspaces.of(request), request.path_params["task"]
        return await workspaces.run(lambda: excerpt(text_of(workspace.graph.get(task), field), skip))

    @route
    async def its_changes(request: Request) -> object:
        return await _trail(workspaces, request, request.path_params["task"])

    return [
        Route(ONE, show, methods=["GET"]),
        Route(ONE + "/text", more_text, methods=["GET"]),
        Route(ONE + "/history", its_changes, methods=["GET"]),
    ]


def _changes(workspaces: Workspaces) -> list[Route]:
    @route
    async def create(request: Request) -> object:
        workspaces.require_control()
        workspace, form = workspaces.of(request), await form_of(request)
        return await workspaces.run(lambda: changes.create(workspace.graph, form))

    @route
    async def change(request: Request) -> object:
        workspaces.require_control()
        name = request.path_params["change"]
        if name not in changes.CHANGES:
            raise HttpProblem(404, f"a task cannot be changed by {name[:40]!r}", code="unknown_route")
        workspace, task, form = workspaces.of(request), request.path_params["task"], await form_of(request)
        return await workspaces.run(lambda: changes.CHANGES[name](workspace.graph, task, form))

    return [Route(BASE, create, methods=["POST"]), Route(ONE + "/{change}", change, methods=["POST"])]


async def _trail(workspaces: Workspaces, request: Request, task: int | None) -> Any:
    workspace: ServedWorkspace = workspaces.of(request)
    skip, limit = number(request, "skip"), number(request, "limit", PAGE, most=5 * PAGE)
    return await workspaces.run(lambda: trail(workspace.graph, task, skip, limit))


def _filter(request: Request) -> Filter:
    given = request.query_params
    texts = {name: given.get(name, "")[:LONGEST_FILTER] for name in ("state", "label", "owner", "text")}
    return Filter(**texts, archived=_flag(request, "archived"))


def _flag(request: Request, name: str) -> bool:
    return request.query_params.get(name, "") in ("1", "true")


def _sort(request: Request) -> SortKey:
    given = request.query_params.get("sort", "priority")
    for known in get_args(SortKey):
        if given == known:
            return known  # type: ignore[no-any-return]
    raise bad_request(f"sort is one of {', '.join(get_args(SortKey))}")
