"""The base of models that ask another model."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator

from outlive.models.protocol import (
    Checkable,
    Model,
    Price,
    Reply,
    Summary,
    found_at,
    prepare,
    summarize,
    window_origin,
)
from outlive.request import Request
from outlive.stream import ModelStreamEvent


class WrappedModel(ABC):
    """Passes everything but `stream` on to another model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name, self.window = model.name, model.window

    @property
    def price(self) -> Price | None:
        return self.model.price

    @property
    def window_origin(self) -> str:
        return window_origin(self.model)

    @property
    def found_at(self) -> str:
        return found_at(self.model)

    @abstractmethod
    def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]: ...

    async def summarize(self, request: Request, instructions: str) -> Summary:
        return await summarize(self.model, request, instructions)

    async def check(self) -> None:
        if isinstance(self.model, Checkable):
            await self.model.check()

    def prepare(self) -> None:
        prepare(self.model)

    async def close(self) -> None:
        await self.model.close()
