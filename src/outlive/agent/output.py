"""Structured output: the schema that goes with the prompt, the format that a provider enforces, and the check of the
answer."""

import json
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import asdict

from outlive.errors import OutliveError
from outlive.models.output_format import enforceable
from outlive.models.repair import repaired, unfenced
from outlive.origin import tagged
from outlive.result import OutputResult, RunResult
from outlive.tools.schema import full_schema

T = TypeVar("T")
MAX_REPAIRS = 1
"""How often the model is told what is wrong with its answer."""
SCHEMA_REQUEST = "When you are done, answer with one JSON value that fits this schema, and with nothing else:\n{}"
REPAIR_REQUEST = "Your answer does not fit the schema: {}. Give all of it again, as one JSON value and nothing else."


class InvalidOutput(OutliveError):
    """A run ended without an answer that fits the schema; `result` is the run's result."""

    def __init__(self, message: str, result: RunResult) -> None:
        super().__init__(message)
        self.result = result


class OutputSchema(Generic[T]):
    """Requests an answer of a type and decodes it: a msgspec Struct, a dataclass, or any other type msgspec can
    decode."""

    def __init__(self, kind: type[T]) -> None:
        """Raises TypeError for a type that has no JSON schema."""
        self._kind = kind
        self._name = getattr(kind, "__name__", str(kind))
        wanted = full_schema(kind)
        form = {"name": self._name, "input_schema": wanted}
        self.format = enforceable(self._name, wanted)
        """What a provider can enforce of it."""
        self.prompt = tagged("harness", SCHEMA_REQUEST.format(json.dumps(form, ensure_ascii=False)))
        self._told = 0

    def review(self, text: str) -> str:
        """What to tell the model about its answer; empty if the answer fits or the repairs are used up."""
        problem = self._problem(text)
        if not problem or self._told >= MAX_REPAIRS:
            return ""
        self._told += 1
        return REPAIR_REQUEST.format(problem)

    def result(self, ended: RunResult) -> OutputResult[T]:
        """The run's result with its output. Raises InvalidOutput."""
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
        """Decode the value in an answer; the JSON may be inside a fence or a sentence. Raises ValueError."""
        plain = unfenced(text.strip())
        try:
            return msgspec.json.decode(plain, type=self._kind)
        except (msgspec.DecodeError, RecursionError) as error:
            inner = repaired(plain[plain.find("{") : plain.rfind("}") + 1]) if "{" in plain else None
            if inner is None:
                raise ValueError(str(error)) from None
        return msgspec.convert(inner, self._kind)
