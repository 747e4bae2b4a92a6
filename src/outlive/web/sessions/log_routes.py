"""The routes of one log: conversation, stream, window, passes, handles, the view at any request."""

from collections.abc import Awaitable, Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outlive.context.log.pages import handle
from outlive.messages import Image
from outlive.web.api import HttpProblem, number, route
from outlive.web.hub import Hub
from outlive.web.live import stream
from outlive.web.sessions.live import resumed_after, session_messages
from outlive.web.sessions.past.answers import (
    kept_in_pass,
    pass_answer,
    pass_row_text,
    pass_rows,
    view_answer,
    view_row_text,
)
from outlive.web.sessions.served_log import ServedLog
from outlive.web.sessions.texts import images_of, picture_bytes, text_of, text_page
from outlive.web.sessions.window import BANDS, COLUMN_FIELDS
from outlive.web.workspaces import Workspaces

ITEMS, MOST_ITEMS = 60, 200
SHOWN_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Shown in the page; anything else is downloaded."""
Answer = Callable[[ServedLog, Request], object]
Endpoint = Callable[[Request], Awaitable[Response]]


def log_routes(workspaces: Workspaces, hub: Hub) -> list[Route]:
    def answering(work: Answer, *, replays: bool = False) -> Endpoint:
        """An endpoint that reads the log; with `replays` it needs the engine; others may read the log meanwhile."""

        @route
        async def endpoint(request: Request) -> object:
            logs, session = workspaces.of(request).session_logs, request.path_params["session"]

            def run() -> object:
                with logs.open(session) as log:
                    if not replays:
                        return work(log, request)
                    events = tuple(log.events)
                with log.past.lock:
                    log.past.follow(events)
                    return work(log, request)

            return await workspaces.run(run)

        return endpoint

    @route
    async def live(request: Request) -> object:
        workspace, session = workspaces.of(request), request.path_params["session"]
        await workspaces.run(lambda: workspace.stores.logs.info(session))  # an unknown one is an error, not a stream
        return stream(session_messages(workspaces, hub, workspace, session, resumed_after(request)))

    replayed = partial(answering, replays=True)
    base = "/api/w/{workspace}/sessions/{session}"
    return [
        Route(base + "/live", live),
        Route(base + "/items", answering(_items)),
        Route(base + "/text", answering(_text)),
        Route(base + "/picture", answering(_picture)),
        Route(base + "/window", answering(_window)),
        Route(base + "/view", replayed(view_answer)),
        Route(base + "/view/text", replayed(view_row_text)),
        Route(base + "/passes/{event:int}", replayed(pass_answer)),
        Route(base + "/passes/{event:int}/rows", replayed(pass_rows)),
        Route(base + "/passes/{event:int}/text", replayed(pass_row_text)),
        Route(base + "/passes/{event:int}/kept", replayed(kept_in_pass)),
        Route(base + "/handles/{handle}", replayed(_handle)),
        Route(base + "/handles/{handle}/bytes", replayed(_handle_bytes)),
    ]


def _items(log: ServedLog, request: Request) -> object:
    page = log.talk.page(
        before=number(request, "before"),
        after=number(request, "after"),
        around=number(request, "around"),
        limit=number(request, "limit", ITEMS, most=MOST_ITEMS),
    )
    return {"page": page, "damage": [str(one) for one in log.damage]}


def _text(log: ServedLog, request: Request) -> object:
    return text_page(text_of(log.event(number(request, "event")), number(request, "block")), number(request, "from"))


def _picture(log: ServedLog, request: Request) -> object:
    images = images_of(log.event(number(request, "event")), number(request, "block"))
    at = number(request, "number")
    if at >= len(images):
        raise HttpProblem(404, "there is no such picture", code="unknown_picture")
    return _picture_response(images[at], "picture")


def _window(log: ServedLog, request: Request) -> object:
    """All columns. What comes later is in the stream."""
    return {
        "bands": BANDS,
        "fields": COLUMN_FIELDS,
        "columns": log.window.columns,
        "last_event": log.talk.last_event,
        "taken_back": log.talk.taken_back,
    }


def _handle(log: ServedLog, request: Request) -> object:
    page = log.past.page(request.path_params["handle"])
    picture = isinstance(page.block, Image)
    parts = [{"event": part.piece.event, "block": part.piece.block, "what": part.piece.label} for part in page.parts]
    bytes_ = 0 if picture else len(page.text.encode(errors="replace"))
    about = {
        "handle": handle(page.number),
        "shared": page.shared,
        "picture": picture,
        "parts": parts,
        "bytes": bytes_,
    }
    return about | text_page(page.text, number(request, "from"))


def _handle_bytes(log: ServedLog, request: Request) -> object:
    page = log.past.page(request.path_params["handle"])
    if isinstance(page.block, Image):
        return _picture_response(page.block, f"h{page.number}")
    headers = {"content-disposition": f'attachment; filename="h{page.number}.txt"'}
    return Response(page.text.encode(errors="replace"), media_type="text/plain; charset=utf-8", headers=headers)


def _picture_response(image: Image, name: str) -> Response:
    data = picture_bytes(image)
    if image.media_type in SHOWN_PICTURES:
        return Response(data, media_type=image.media_type)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)
