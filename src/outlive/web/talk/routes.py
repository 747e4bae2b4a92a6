"""The routes of talking to an agent. All of them need `--control`."""

import re
from typing import Any, Literal, cast

from starlette.requests import Request
from starlette.routing import Route

from outlive.printable import one_line
from outlive.tools.permissions.asking import PermissionAnswer, user_name
from outlive.web.api import bad_request, form_of, number, route
from outlive.web.live import stream
from outlive.web.talk.open_talk import OpenTalk
from outlive.web.talk.shapes import part_of
from outlive.web.talk.talks import Talks
from outlive.web.workspaces import ServedWorkspace, Workspaces

LONGEST_REASON = 2_000  # of a refusal: the model reads it
FAMILIES = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chromium", "Safari/": "Safari"}
"""Browsers by what only they say of themselves; the first that fits."""
_BROWSER = re.compile(r"[0-9a-z]{1,12}")


def talk_routes(workspaces: Workspaces, talks: Talks) -> list[Route]:
    talk = TalkRoutes(workspaces, talks)
    base = "/api/w/{workspace}/sessions/{session}/talk"
    posted = {
        "/say": talk.say,
        "/continue": talk.go_on,
        "/unqueue": talk.unqueue,
        "/interrupt": talk.interrupt,
        "/mode": talk.mode,
        "/close": talk.close,
        "/questions/{question}": talk.answer,
    }
    return [
        Route("/api/w/{workspace}/talk", route(talk.start), methods=["POST"]),
        Route(base, route(talk.live)),
        *(Route(base + path, route(handler), methods=["POST"]) for path, handler in posted.items()),
        Route(base + "/questions/{question}", route(talk.more)),
    ]


class TalkRoutes:
    """One method a route."""

    def __init__(self, workspaces: Workspaces, talks: Talks) -> None:
        self._workspaces = workspaces
        self._talks = talks

    async def start(self, request: Request) -> object:
        """A new session with its first words, and a mode if one was chosen."""
        workspace, form = self._workspaces.of(request), await self._form(request)
        words, mode, typed = _text(form, "text"), _text(form, "mode", ""), _text(form, "typed", "")
        by = _who(request, form)

        def begin(talk: OpenTalk) -> None:
            if mode:
                talk.set_mode(mode, typed, by)
            talk.say(words)

        return {"session": await self._talks.start(workspace, begin)}

    async def live(self, request: Request) -> object:
        """A stream of what the agent says and asks, and of the state that the page shows."""
        self._workspaces.require_control()
        workspace, session = self._place(request)
        await self._workspaces.run(lambda: workspace.stores.logs.info(session))  # there has to be one
        return stream(self._talks.messages(workspace, session))

    async def say(self, request: Request) -> object:
        words = _text(await self._form(request), "text")
        return {"queued": await self._talks.use(*self._place(request), lambda talk: talk.say(words))}

    async def go_on(self, request: Request) -> object:
        await self._form(request)
        await self._talks.use(*self._place(request), OpenTalk.go_on)
        return {}

    async def unqueue(self, request: Request) -> object:
        await self._form(request)
        return {"words": await self._talks.with_open(*self._place(request), OpenTalk.unqueue)}

    async def interrupt(self, request: Request) -> object:
        await self._form(request)
        return {"interrupted": await self._talks.with_open(*self._place(request), OpenTalk.interrupt)}

    async def mode(self, request: Request) -> object:
        form = await self._form(request)
        wanted, typed, by = _text(form, "mode"), _text(form, "typed", ""), _who(request, form)
        await self._talks.use(*self._place(request), lambda talk: talk.set_mode(wanted, typed, by))
        return {"mode": wanted}

    async def close(self, request: Request) -> object:
        """Hand the session back, to a terminal for instance."""
        await self._form(request)
        return {"closed": await self._talks.hand_back(*self._place(request))}

    async def answer(self, request: Request) -> object:
        form = await self._form(request)
        choice = _text(form, "choice")
        if choice not in ("yes", "always", "no"):
            raise bad_request("the choice is yes, always or no")
        reason = _text(form, "why", "")[:LONGEST_REASON]
        given = PermissionAnswer(cast(Literal["yes", "always", "no"], choice), reason, _who(request, form))
        id = request.path_params["question"]
        await self._talks.with_open(*self._place(request), lambda talk: talk.answer(id, given))
        return {"by": given.by}

    async def more(self, request: Request) -> object:
        """A further part of a long question."""
        self._workspaces.require_control()
        id, what, skip = (
            request.path_params["question"],
            request.query_params.get("what", ""),
            number(request, "skip"),
        )
        return await self._talks.with_open(
            *self._place(request), lambda talk: part_of(talk.questions.get(id), what, skip)
        )

    async def _form(self, request: Request) -> dict[str, Any]:
        self._workspaces.require_control()
        return await form_of(request)

    def _place(self, request: Request) -> tuple[ServedWorkspace, str]:
        return self._workspaces.of(request), request.path_params["session"]


def _text(form: dict[str, Any], name: str, default: str | None = None) -> str:
    """A text of the form; one without a default may not be blank."""
    value = form.get(name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise bad_request(f"{name} is missing, or is not a text")
    return value


def _who(request: Request, form: dict[str, Any]) -> str:
    """The user of this server and the browser that asks; two browsers of one machine differ by their number."""
    agent = request.headers.get("user-agent", "")
    family = next((name for mark, name in FAMILIES.items() if mark in agent), "a program")
    given = form.get("browser")
    browser = f" {given}" if isinstance(given, str) and _BROWSER.fullmatch(given) else ""
    address = request.client.host if request.client else "an unknown address"
    return one_line(f"{user_name()} in {family}{browser} at {address}", 200)
