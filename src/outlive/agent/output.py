"""Structured output: the schema that goes with the prompt, and the answer checked against it."""

import json
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import asdict

from outlive.errors import OutliveError
from outlive.models.repair import repaired, unfenced
from outlive.origin import tagged
from outlive.result import OutputResult, RunResult
from outlive.tools.schema import schema

T = TypeVar("T")
REPAIRS = 1
"""How often the model is told what is wrong with its answer."""
ASK = "When you are done, answer with one JSON value that fits this schema, and with nothing else:\n{}"
WRONG = "Your answer does not fit the schema: {}. Give all of it again, as one JSON value and nothing else."


class InvalidOutput(OutliveError):
    """A run ended without an answer that fits the schema; `result` is what it came to."""

    def __init__(self, message: str, result: RunResult) -> None:
        super().__init__(message)
        self.result = result


class OutputSchema(Generic[T]):
    """Asks for one answer of a type and reads it: a msgspec Struct, a dataclass, or what else msgspec can read."""

    def __init__(self, kind: type[T]) -> None:
        """Raises TypeError for a type that has no JSON schema."""
        self._kind = kind
        self._name = getattr(kind, "__name__", str(kind))
        form = {"name": self._name, "input_schema": schema(kind)}
        self.prompt = tagged("harness", ASK.format(json.dumps(form, ensure_ascii=False)))
        self._told = 0

    def review(self, text: str) -> str:
        """What to tell the model about its answer; nothing when it fits, or when it was told already."""
        problem = self._problem(text)
        if not problem or self._told >= REPAIRS:
            return ""
        self._told += 1
        return WRONG.format(problem)

    def result(self, ended: RunResult) -> OutputResult[T]:
        """The result with its output. Raises InvalidOutput."""
        if ended.stop_reason != "done":
            raise InvalidOutput(f"the run stopped before its answer: {ended.detail or ended.stop_reason}", ended)
        try:
            return OutputResult(**asdict(ended), output=self._read(ended.text))
        except ValueError as error:
            raise InvalidOutput(f"the answer is not a valid {self._name}: {error}", ended) from None

    def _problem(self, text: str) -> str:
        try:
            self._read(text)
        except ValueError as error:
            return str(error)
        return ""

    def _read(self, text: str) -> T:
        """The value in an answer; around an object there may be a fence or words. Raises ValueError."""
        plain = unfenced(text.strip())
        try:
            return msgspec.json.decode(plain, type=self._kind)
        except msgspec.DecodeError as error:
            inner = repaired(plain[plain.find("{") : plain.rfind("}") + 1]) if "{" in plain else None
            if inner is None:
                raise ValueError(str(error)) from None
        return msgspec.convert(inner, self._kind)
