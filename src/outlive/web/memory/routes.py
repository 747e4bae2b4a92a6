"""The routes of memories."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.routing import Route

from outlive.stores.memories.records import SCOPES
from outlive.web.api import bad_request, form_of, number, route
from outlive.web.excerpt import MOST, excerpt, line
from outlive.web.memory.detail import detail
from outlive.web.memory.refused import RefusedMemories
from outlive.web.memory.rows import MemoryListing
from outlive.web.memory.steps import step_diff, steps
from outlive.web.workspaces import ServedWorkspace, Workspaces

PAGE = 100  # rows of one answer
MOST_FOUND = 50  # search results are ranked: further ones are noise
LONGEST_QUERY = 2_000  # the rest is cut: each word costs a search
BASE = "/api/w/{workspace}/memory"
ONE = BASE + "/{scope}/{slug}"


class _Shown:
    """What the page knows of the memories of one workspace."""

    def __init__(self, workspace: ServedWorkspace) -> None:
        self.memories = workspace.memories
        self.finder = workspace.finder
        self.logs = workspace.stores.logs
        self.listing = MemoryListing(self.memories)
        self.refused = RefusedMemories(self.memories, self.logs)


Ask = Callable[[Request, Callable[[_Shown], object]], Awaitable[object]]


def memory_routes(workspaces: Workspaces) -> list[Route]:
    opened: dict[str, _Shown] = {}

    async def ask(request: Request, work: Callable[[_Shown], object]) -> object:
        """Answer from the memories of the workspace that a path names, in a thread."""
        workspace = workspaces.of(request)

        def answer() -> object:
            if workspace.id not in opened:
                opened[workspace.id] = _Shown(workspace)
            return work(opened[workspace.id])

        return await workspaces.run(answer)

    return [*_lists(ask), *_one(ask), *_changes(workspaces, ask)]


def _lists(ask: Ask) -> list[Route]:
    @route
    async def list_memories(request: Request) -> object:
        state, kind, scope = (request.query_params.get(name, "")[:20] for name in ("state", "type", "scope"))
        skip, limit = number(request, "skip"), number(request, "limit", PAGE, most=5 * PAGE)
        return await ask(
            request, lambda shown: shown.listing.page(state=state, kind=kind, scope=scope, skip=skip, limit=limit)
        )

    @route
    async def search(request: Request) -> object:
        words = request.query_params.get("q", "")[:LONGEST_QUERY]
        most = number(request, "limit", MOST_FOUND, most=MOST_FOUND)
        if not words.strip():
            raise bad_request("q says what to search for")
        return {"hits": await ask(request, lambda shown: shown.listing.search(shown.finder, words, most))}

    @route
    async def log(request: Request) -> object:
        scope, slug = (request.query_params.get(name, "")[:200] for name in ("scope", "slug"))
        skip, limit = number(request, "skip"), number(request, "limit", PAGE, most=PAGE)
        return await ask(request, lambda shown: steps(shown.memories, scope, slug, skip, limit))

    @route
    async def log_diff(request: Request) -> object:
        return await ask(request, lambda shown: step_diff(shown.memories, request.path_params["step"]))

    @route
    async def refused(request: Request) -> object:
        return await ask(request, lambda shown: shown.refused.now())

    return [
        Route(BASE, list_memories, methods=["GET"]),
        Route(BASE + "/search", search, methods=["GET"]),
        Route(BASE + "/refused", refused, methods=["GET"]),
        Route(BASE + "/log", log, methods=["GET"]),
        Route(BASE + "/log/{step}", log_diff, methods=["GET"]),
    ]


def _one(ask: Ask) -> list[Route]:
    @route
    async def show(request: Request) -> object:
        ref = _ref(request)
        return await ask(request, lambda shown: detail(shown.memories, shown.listing, shown.logs, ref))

    @route
    async def more_text(request: Request) -> object:
        """The next part of the body."""
        ref, skip = _ref(request), number(request, "skip", most=MOST)
        return await ask(request, lambda shown: excerpt(shown.memories.get(ref).body, skip))

    return [Route(ONE, show, methods=["GET"]), Route(ONE + "/text", more_text, methods=["GET"])]


def _changes(workspaces: Workspaces, ask: Ask) -> list[Route]:
    @route
    async def undo(request: Request) -> object:
        """Take back a step of the log."""
        workspaces.require_control()
        step = (await form_of(request)).get("step")
        if not isinstance(step, str) or not step:
            raise bad_request("step is the id of a step of the log")

        def work(shown: _Shown) -> object:
            entry = shown.memories.undo(step)
            return {
                "id": entry.id,
                "undoes": entry.step.undoes,
                "memories": [c.slug for c in entry.step.changes[:20]],
            }

        return await ask(request, work)

    @route
    async def forget(request: Request) -> object:
        """Move a memory to the archive, with what `forgets` of its detail names."""
        workspaces.require_control()
        ref, note = _ref(request), (await form_of(request)).get("note", "")
        if not isinstance(note, str):
            raise bad_request("note is a text")
        return await ask(
            request, lambda shown: {"forgotten": shown.listing.rows(shown.memories.forget(ref, note=line(note, 500)))}
        )

    @route
    async def confirm(request: Request) -> object:
        """The user agrees to a memory that was not the user's."""
        workspaces.require_control()
        ref = _ref(request)
        await form_of(request)
        return await ask(request, lambda shown: {"memory": shown.listing.rows([shown.memories.confirm(ref)])[0]})

    return [
        Route(BASE + "/undo", undo, methods=["POST"]),
        Route(ONE + "/forget", forget, methods=["POST"]),
        Route(ONE + "/confirm", confirm, methods=["POST"]),
    ]


def _ref(request: Request) -> str:
    scope, slug = request.path_params["scope"], request.path_params["slug"]
    if scope not in SCOPES:
        raise bad_request(f"scope is one of {', '.join(SCOPES)}")
    return f"{scope}/{slug}"
