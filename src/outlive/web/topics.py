"""What a browser may listen to: changes of a workspace, the log of a session, the talk with an agent."""

from typing import Any

from outlive.web.api import bad_request
from outlive.web.hub import Hub
from outlive.web.sessions.live import session_messages
from outlive.web.streams import Messages, TopicSource
from outlive.web.talk.talks import Talks
from outlive.web.workspaces import ServedWorkspace, Workspaces


def topic_sources(workspaces: Workspaces, hub: Hub, talks: Talks) -> dict[str, TopicSource]:
    """By kind. A topic is `{"kind": …, "workspace": ID}`; that of a session has `session`, a log's also `after`."""

    async def changes(topic: dict[str, Any]) -> Messages:
        return hub.change_messages(_workspace(workspaces, topic))

    async def log(topic: dict[str, Any]) -> Messages:
        workspace, session = await _session(workspaces, topic)
        after = topic.get("after", 0)
        if not isinstance(after, int):
            raise bad_request("after must be the number of an event")
        return session_messages(workspaces, hub, workspace, session, after)

    async def talk(topic: dict[str, Any]) -> Messages:
        workspaces.require_control()
        return talks.messages(*await _session(workspaces, topic))

    return {"changes": changes, "log": log, "talk": talk}


def _workspace(workspaces: Workspaces, topic: dict[str, Any]) -> ServedWorkspace:
    return workspaces.get(str(topic.get("workspace", "")))


async def _session(workspaces: Workspaces, topic: dict[str, Any]) -> tuple[ServedWorkspace, str]:
    """Raises UnknownSession."""
    workspace, session = _workspace(workspaces, topic), str(topic.get("session", ""))
    await workspaces.run(lambda: workspace.stores.logs.info(session))
    return workspace, session
