"""The context window of a session: as asked for, as the settings say, as the server says, or as kept in the log."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from outlive.agent.log.session_log import DEFAULT_WINDOW
from outlive.agent.session import Session
from outlive.config.settings import MIN_WINDOW
from outlive.events import Checkpointed, Event
from outlive.models.protocol import Model, window_origin

ASSUMED = "assumed, because neither the model nor its server says; set [context] window"
WINDOW_LABEL = "window"
"""Checkpoint with the window that a server reported."""


class ContextWindow(Struct, frozen=True):
    """Tokens of the window, and where the number comes from."""

    tokens: int
    origin: str


def context_window(
    model: Model, asked: int | None, settings: Mapping[str, Any], events: Iterable[Event] = ()
) -> ContextWindow:
    """The window to use with a model. `events`: the log of the session, which may hold what a server said before."""
    if asked:
        return ContextWindow(asked, "as asked for")
    if wanted := settings.get("window"):
        return ContextWindow(int(wanted), "as the settings say")
    if model.window:
        return ContextWindow(max(model.window, MIN_WINDOW), window_origin(model) or f"as listed for {model.name}")
    if kept := _kept(events):
        return ContextWindow(kept, "as the server said earlier in this session")
    return ContextWindow(DEFAULT_WINDOW, ASSUMED)


def keep_window(session: Session, model: Model) -> None:
    """Log the window that the server of the model reported, if the log does not have it yet."""
    origin = window_origin(model)
    if origin and session.checkpoint(WINDOW_LABEL).get("tokens") != model.window:
        session.log(Checkpointed, label=WINDOW_LABEL, data={"tokens": model.window, "origin": origin})


def _kept(events: Iterable[Event]) -> int:
    tokens: object = 0
    for event in events:
        if isinstance(event, Checkpointed) and event.label == WINDOW_LABEL:
            tokens = event.data.get("tokens")
    return tokens if isinstance(tokens, int) and tokens >= MIN_WINDOW else 0
