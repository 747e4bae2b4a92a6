"""The protocol of a provider's side of the simulator."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from outlive.testing.simulator.answer import Answer
from outlive.testing.simulator.cache import CachedPiece
from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.refusal import RuleBroken
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step


class Side(Protocol):
    """Rules and forms of one provider."""

    name: str

    def key_of(self, headers: Mapping[str, str]) -> str | None:
        """Return the API key of a request, if any."""

    def refuse_key(self, key: str | None) -> RuleBroken:
        """Return the error for a missing or wrong key."""

    def check(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> None:
        """Refuse what the provider refuses, except for the length."""

    def pieces(self, body: dict[str, Any]) -> list[CachedPiece]:
        """Return the prompt in cache order."""

    def salt(self, body: dict[str, Any]) -> str:
        """Return what two requests must share to use the same cache entries."""

    def too_long(self, used: int, limit: int) -> RuleBroken:
        """Return the error for a prompt that does not fit."""

    def answer(self, step: Step, mark: str, request: SeenRequest, fault: Fault | None) -> Answer:
        """The answer to a request, with ids and signatures, not yet cut to length."""

    def most_output(self, body: dict[str, Any]) -> int | None:
        """Return the maximum tokens of the answer; None for no limit."""

    def error(self, refused: RuleBroken, request_id: str) -> dict[str, Any]:
        """An error in the provider's form."""

    def whole(self, answer: Answer) -> dict[str, Any]:
        """An answer in one piece."""

    def events(self, answer: Answer, body: dict[str, Any]) -> Iterator[bytes]:
        """An answer as a stream."""

    def error_event(self, body: dict[str, Any]) -> bytes:
        """An error as an event of a stream."""

    def models(self, name: str, window: int) -> dict[str, Any]:
        """The list of models, or the model of that name."""
