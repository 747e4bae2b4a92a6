"""The routes of the server: the page, its files, and the API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from outlive import __version__
from outlive.web.api import problem, route
from outlive.web.fleet import fleet_routes
from outlive.web.hub import Hub
from outlive.web.learn.routes import learn_routes
from outlive.web.learn.scratch import Scratches
from outlive.web.live import stream
from outlive.web.memory.routes import memory_routes
from outlive.web.replay.recordings import Recordings
from outlive.web.replay.routes import replay_routes
from outlive.web.replay.runs import ReplayRuns
from outlive.web.sessions.routes import session_routes
from outlive.web.streams import Streams
from outlive.web.talk.routes import talk_routes
from outlive.web.talk.talks import Talks
from outlive.web.tasks.routes import tasks_routes
from outlive.web.topics import topic_sources
from outlive.web.workspaces import Workspaces

STATIC = Path(__file__).parent / "static"
REVALIDATED = {"cache-control": "no-cache"}
"""Files of the page are asked for again, and usually answered with "not modified"."""


class PageFiles(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(REVALIDATED)
        return response


def make_app(workspaces: Workspaces, hub: Hub) -> Starlette:
    """The application, to be wrapped in `Access`."""
    scratches, talks, runs = Scratches(), Talks(), ReplayRuns()
    streams = Streams(topic_sources(workspaces, hub, talks))
    hub.on_close(talks.end_streams)
    hub.on_close(streams.end)

    @route
    async def about(request: Request) -> object:
        shown = [
            {"id": workspace.id, "name": workspace.name, "path": str(workspace.config.project)}
            for workspace in workspaces.all.values()
        ]
        return {
            "version": __version__,
            "control": workspaces.control,
            "workspaces": shown,
            "watched": streams.watched,
        }

    @route
    async def changes(request: Request) -> object:
        """A stream of `{"what": "tasks"}` and the like."""
        return stream(hub.change_messages(workspaces.of(request)))

    async def page(request: Request) -> Response:
        """Every path of the page is the same document; its router shows what the path names."""
        if request.url.path.startswith("/api/"):
            return problem(404, "there is no such route", code="unknown_route")
        return FileResponse(STATIC / "index.html", headers=REVALIDATED)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        hub.close()
        await talks.close()
        runs.close()
        workspaces.close()
        scratches.close()

    return Starlette(
        routes=[
            Route("/api/about", about),
            Route("/api/w/{workspace}/changes", changes),
            *streams.routes(),
            *session_routes(workspaces, hub),
            *tasks_routes(workspaces),
            *fleet_routes(workspaces),
            *memory_routes(workspaces),
            *replay_routes(workspaces, Recordings(), runs),
            *learn_routes(scratches, workspaces.run),
            *talk_routes(workspaces, talks),
            Mount("/static", PageFiles(directory=STATIC)),
            Route("/{path:path}", page),
        ],
        lifespan=lifespan,
    )
