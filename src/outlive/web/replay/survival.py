"""How much of what the agent used next was in view: names in its calls that it had met before."""

import re

from msgspec import Struct

from outlive.messages import Message, Text, Thinking, ToolCall, ToolResult
from outlive.replay.player import ReplayStep
from outlive.replay.recording import Recording

_NAME = re.compile(r"[A-Za-z_][\w./-]{5,120}")
MOST_CACHED = 50_000
"""Texts whose names are remembered."""


class Survival(Struct):
    """Names that calls used after the first pass, and those of them that the request still held."""

    used: int = 0
    in_view: int = 0

    @property
    def share(self) -> float:
        return self.in_view / self.used if self.used else 1.0


class SurvivalCount:
    """Counts along a replay."""

    def __init__(self, recording: Recording) -> None:
        self.found = Survival()
        self._recording = recording
        self._met: set[str] = set()
        self._counted = 0
        self._passed = False
        self._names: dict[str, frozenset[str]] = {}

    def take(self, step: ReplayStep) -> None:
        messages = self._recording.messages
        for recorded in messages[self._counted : step.turn]:
            self._met.update(*map(self._of, _texts(recorded.message)))
        self._counted = step.turn
        self._passed |= bool(step.passes)
        if not self._passed:
            return
        answer = messages[step.turn].message
        calls = (repr(block.input) for block in answer.blocks if isinstance(block, ToolCall))
        wanted = {name for text in calls for name in self._of(text)} & self._met
        self.found.used += len(wanted)
        if step.request is not None and wanted:
            shown = [self._of(text) for message in step.request.messages for text in _texts(message)]
            self.found.in_view += sum(any(name in names for names in shown) for name in wanted)

    def _of(self, text: str) -> frozenset[str]:
        names = self._names.get(text)
        if names is None:
            names = frozenset(_NAME.findall(text))
            if len(self._names) < MOST_CACHED:
                self._names[text] = names
        return names


def _texts(message: Message) -> list[str]:
    found: list[str] = []
    for block in message.blocks:
        match block:
            case Text() | Thinking() | ToolResult():
                found.append(block.text)
            case ToolCall():
                found.append(repr(block.input))
            case _:
                pass
    return found
