"""The sessions of all workspaces that are served, in one list."""

from collections.abc import Iterable

import msgspec

from outlive.errors import OutliveError
from outlive.printable import one_line
from outlive.web.sessions.listing import ListedSession, list_sessions
from outlive.web.workspaces import MAX_PROBLEM_CHARS, ServedWorkspace


class SessionOfWorkspace(msgspec.Struct, frozen=True):
    """A session of the list with its workspace."""

    workspace: str
    name: str
    listed: ListedSession


def sessions_everywhere(
    workspaces: Iterable[ServedWorkspace], words: str, skip: int, limit: int
) -> dict[str, object]:
    """The newest first. A workspace whose store cannot be read is named and left out."""
    found: list[SessionOfWorkspace] = []
    left_out: list[str] = []
    total, incomplete = 0, False
    for workspace in workspaces:
        try:
            page = list_sessions(workspace.stores.logs, workspace.summaries, words, 0, skip + limit)
        except OutliveError as error:
            left_out.append(one_line(f"{workspace.name}: {error.message}", MAX_PROBLEM_CHARS))
            continue
        total += page.total
        incomplete |= page.incomplete
        left_out += (f"{workspace.name}: {text}" for text in page.left_out)
        found += (SessionOfWorkspace(workspace.id, workspace.name, listed) for listed in page.sessions)
    found.sort(key=lambda one: (-one.listed.info.updated, one.workspace, one.listed.info.id))
    return {
        "total": total,
        "sessions": found[skip : skip + limit],
        "left_out": left_out,
        "incomplete": incomplete,
    }
