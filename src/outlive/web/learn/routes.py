"""The routes of the lessons.

They change things without `--control`, and so they are given the scratch folders and a way to run work in a thread,
and nothing that leads to a workspace.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outlive.errors import OutliveError
from outlive.web.api import HttpProblem, bad_request, form_of, number, route
from outlive.web.learn.graph import GraphLesson
from outlive.web.learn.rungs import RUNGS, seen_at
from outlive.web.learn.scratch import Scratch, Scratches, not_started
from outlive.web.learn.sources import document_of, source_of
from outlive.web.learn.survival import SurvivalLesson

NOT_STARTED = {"started": False}
T = TypeVar("T")
Lesson = TypeVar("Lesson", GraphLesson, SurvivalLesson)
Endpoint = Callable[[Request], Awaitable[Response]]


class RunInThread(Protocol):
    def __call__(self, work: Callable[[], T]) -> Awaitable[T]: ...


Form = dict[str, Any]
_GRAPH: dict[str, Callable[[GraphLesson, Form], object]] = {
    "complete": lambda lesson, form: lesson.complete(_whole(form, "task")),
    "reopen": lambda lesson, form: lesson.reopen(_whole(form, "task")),
    "depend": lambda lesson, form: lesson.depend(_whole(form, "task"), _whole(form, "on")),
    "start": lambda lesson, form: lesson.start_worker(_word(form, "worker")),
    "kill": lambda lesson, form: lesson.kill_worker(_word(form, "worker")),
    "finish": lambda lesson, form: lesson.finish_worker(_word(form, "worker")),
    "late": lambda lesson, form: lesson.late_worker(_word(form, "worker")),
}
_SURVIVAL: dict[str, Callable[[SurvivalLesson, Form], object]] = {
    "window": lambda lesson, form: lesson.play(_whole(form, "window")),
    "compact": lambda lesson, _: lesson.compact(),
    "restart": lambda lesson, _: lesson.restart(),
    "swap": lambda lesson, _: lesson.swap(),
}


def learn_routes(scratches: Scratches, run: RunInThread) -> list[Route]:
    def endpoint(work: Callable[[Scratch, Request, Form], object]) -> Endpoint:
        """Work with the scratch folder that the path names, in a thread, one piece of work at a time."""

        @route
        async def handler(request: Request) -> object:
            scratch = scratches.get(request.path_params["visitor"])
            form = await form_of(request) if request.method == "POST" else {}

            def locked() -> object:
                with scratch.lock:
                    return work(scratch, request, form)

            return await run(locked)

        return handler

    @route
    async def rung(request: Request) -> object:
        name = request.path_params["rung"]
        if name not in RUNGS:
            raise HttpProblem(404, f"there is no rung {name[:40]!r}", code="unknown_rung")
        return await run(lambda: seen_at(name))

    @route
    async def source(request: Request) -> object:
        return source_of(request.path_params["key"])

    @route
    async def document(request: Request) -> object:
        return document_of(request.path_params["key"])

    base = "/api/learn/{visitor}"
    reading = {
        "/graph": lambda scratch, *_: scratch.graph.snapshot() if scratch.graph else NOT_STARTED,
        "/survival": lambda scratch, *_: scratch.survival.snapshot() if scratch.survival else NOT_STARTED,
        "/survival/request": lambda scratch, *_: {"messages": _survival(scratch).request()},
        "/survival/recall": _recall,
        "/quiz": lambda scratch, request, _: scratch.quiz.round(
            number(request, "seed"), scratch.graph, scratch.survival
        ),
    }
    changing = {
        "/graph": lambda scratch, _, form: _changed(_graph(scratch), _GRAPH, form),
        "/graph/start": lambda scratch, *_: scratch.restart_graph().snapshot(),
        "/survival": lambda scratch, _, form: _changed(_survival(scratch), _SURVIVAL, form),
        "/survival/start": lambda scratch, *_: scratch.restart_survival().snapshot(),
        "/quiz": lambda scratch, _, form: scratch.quiz.answer(_word(form, "question"), _whole(form, "choice")),
    }
    return [
        Route("/api/learn/rungs/{rung}", rung),
        Route("/api/learn/sources/{key}", source),
        Route("/api/learn/sources/{key}/document", document),
        *(Route(base + path, endpoint(work)) for path, work in reading.items()),
        *(Route(base + path, endpoint(work), methods=["POST"]) for path, work in changing.items()),
    ]


def _recall(scratch: Scratch, request: Request, _: Form) -> object:
    return _survival(scratch).recall(request.query_params.get("handle", "")[:20])


def _changed(lesson: Lesson, actions: dict[str, Callable[[Lesson, Form], object]], form: Form) -> object:
    """Carry out the action that the form names; what it did, and the lesson as it is then. To be refused is part of a
    lesson, so it is an answer like any other."""
    act = actions.get(_word(form, "op"))
    if act is None:
        raise bad_request(f"op is one of {', '.join(actions)}")
    try:
        result = {"done": act(lesson, form)}
    except OutliveError as error:
        result = {"refused": {"message": error.message, "hint": error.hint, "code": error.code}}
    return {**result, **lesson.snapshot()}


def _graph(scratch: Scratch) -> GraphLesson:
    if scratch.graph is None:
        raise not_started("graph")
    return scratch.graph


def _survival(scratch: Scratch) -> SurvivalLesson:
    if scratch.survival is None:
        raise not_started("survival")
    return scratch.survival


def _whole(form: Form, name: str) -> int:
    value = form.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise bad_request(f"{name} must be a whole number")
    return value


def _word(form: Form, name: str) -> str:
    value = form.get(name)
    if not isinstance(value, str) or len(value) > 60:
        raise bad_request(f"{name} must be a short text")
    return value
