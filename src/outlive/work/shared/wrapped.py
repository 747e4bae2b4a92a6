"""A model around another one, for what happens before its requests."""

from collections.abc import AsyncGenerator

from outlive.models.protocol import Model, Price, Reply, Summary, found_at, prepare, summarize, window_origin
from outlive.request import Request
from outlive.stream import ModelStreamEvent


class WrappedModel:
    """Passes everything on."""

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

    def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        return self.model.stream(request)

    async def summarize(self, request: Request, instructions: str) -> Summary:
        return await summarize(self.model, request, instructions)

    def prepare(self) -> None:
        prepare(self.model)

    async def close(self) -> None:
        await self.model.close()
