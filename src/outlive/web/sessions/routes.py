"""The routes of sessions as a whole: the list, search, summaries, changes. Those of one log are in log_routes.py."""

from starlette.requests import Request
from starlette.routing import Route

from outlive.web.api import form_of, number, route
from outlive.web.hub import Hub
from outlive.web.sessions.control import fork_session, undo_newest_pass
from outlive.web.sessions.everywhere import sessions_everywhere
from outlive.web.sessions.listing import list_sessions
from outlive.web.sessions.log_routes import log_routes
from outlive.web.sessions.search import search_sessions
from outlive.web.workspaces import Workspaces

PAGE = 50
"""Sessions of one answer."""


def session_routes(workspaces: Workspaces, hub: Hub) -> list[Route]:
    @route
    async def sessions(request: Request) -> object:
        workspace = workspaces.of(request)
        words = request.query_params.get("q", "")
        skip, limit = number(request, "skip"), number(request, "limit", PAGE, most=4 * PAGE)
        return await workspaces.run(
            lambda: list_sessions(workspace.stores.logs, workspace.summaries, words, skip, limit)
        )

    @route
    async def everywhere(request: Request) -> object:
        words = request.query_params.get("q", "")
        skip, limit = number(request, "skip"), number(request, "limit", PAGE, most=4 * PAGE)
        return await workspaces.run(lambda: sessions_everywhere(workspaces.all.values(), words, skip, limit))

    @route
    async def search(request: Request) -> object:
        store = workspaces.of(request).stores.logs
        words, start = request.query_params.get("q", ""), request.query_params.get("from", "")
        return await workspaces.run(lambda: search_sessions(store, words, start))

    @route
    async def summary(request: Request) -> object:
        workspace = workspaces.of(request)
        return await workspaces.run(lambda: workspace.summaries.of(request.path_params["session"]))

    @route
    async def undo(request: Request) -> object:
        workspaces.require_control()
        store, session = workspaces.of(request).stores.logs, request.path_params["session"]
        form = await form_of(request)
        return await workspaces.run(lambda: undo_newest_pass(store, session, form))

    @route
    async def fork(request: Request) -> object:
        workspaces.require_control()
        store, session = workspaces.of(request).stores.logs, request.path_params["session"]
        form = await form_of(request)
        return await workspaces.run(lambda: fork_session(store, session, form))

    base = "/api/w/{workspace}/sessions"
    one = base + "/{session}"
    return [
        Route(base, sessions),
        Route("/api/sessions", everywhere),
        Route("/api/w/{workspace}/search", search),
        Route(one + "/summary", summary),
        Route(one + "/undo", undo, methods=["POST"]),
        Route(one + "/fork", fork, methods=["POST"]),
        *log_routes(workspaces, hub),
    ]
