"""A request as the simulator received it, with accessors that are the same for both providers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from outlive.testing.simulator.anthropic.checks.tool_changes import tools_on_offer
from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.openai.items import as_messages, tools_of
from outlive.testing.simulator.tokens import texts

RESPONSES_COMPACT = "/v1/responses/compact"


@dataclass(frozen=True)
class ReportedUsage:
    """Reported tokens of one request. `input` excludes tokens read from or written to the cache."""

    input: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0
    cache_write_1h: int = 0
    """The part of `cache_write` that lives for an hour."""

    @property
    def prompt(self) -> int:
        """All of the prompt, cached or not."""
        return self.input + self.cache_write + self.cache_read

    def __add__(self, other: "ReportedUsage") -> "ReportedUsage":
        return ReportedUsage(
            self.input + other.input,
            self.cache_write + other.cache_write,
            self.cache_read + other.cache_read,
            self.output + other.output,
            self.cache_write_1h + other.cache_write_1h,
        )


@dataclass(frozen=True)
class SeenCall:
    """A tool call in the history of a request."""

    id: str
    name: str
    input: Any


@dataclass(frozen=True)
class SeenResult:
    """A tool result, with the name of the call that it answers."""

    id: str
    name: str
    text: str
    is_error: bool


@dataclass
class SeenRequest:
    """A valid request: its body, its fault and its usage."""

    number: int
    provider: str
    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    fault: Fault | None = None
    usage: ReportedUsage | None = None
    """None if a fault replaced the answer."""
    dropped: tuple[str, ...] = ()
    """Anthropic: paths of thinking blocks that failed the binding check and were dropped; the body has them."""
    mismatched: tuple[str, ...] = ()
    """Anthropic: paths of thinking blocks that failed the binding check and were shown all the same."""

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def compacts(self) -> bool:
        """Whether it asks for a summary of the conversation, and not for an answer."""
        return self.body.get("compaction") is not None or self.path == RESPONSES_COMPACT

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in the provider's own form; items of the Responses API as messages of the chat API."""
        return list(self.body["messages"]) if "messages" in self.body else as_messages(self.body)

    @property
    def tools(self) -> dict[str, Any]:
        """The definitions of the tools on offer, by name."""
        if self.provider == "anthropic":
            offered = tools_on_offer(self.body)
        else:
            offered = self.body.get("tools") or [] if "messages" in self.body else tools_of(self.body)
        named = (tool.get("function", tool) for tool in offered)
        return {tool.get("name", tool.get("type")): tool for tool in named}

    @property
    def system_text(self) -> str:
        """The system prompt; for OpenAI, all messages with the role `system` or `developer`."""
        if self.provider == "anthropic":
            return "\n".join(_plain(self.body.get("system")))
        turns = [message for message in self.messages if message["role"] in ("system", "developer")]
        return "\n".join(text for message in turns for text in _plain(message["content"]))

    @property
    def text(self) -> str:
        """All text of the request: system, messages, calls and results."""
        parts = [self.system_text] if self.provider == "anthropic" else []
        for message in self.messages:
            parts += texts({key: value for key, value in message.items() if key != "role"})
        return "\n".join(parts)

    def user_words(self) -> tuple[str, ...]:
        """Return the texts of the user's messages, in order, without tool results."""
        turns = [message["content"] for message in self.messages if message["role"] == "user"]
        return tuple(text for content in turns for text in _plain(content))

    def texts(self) -> tuple[str, ...]:
        """Return the texts of the user's and the assistant's messages, in order."""
        turns = [message["content"] for message in self.messages if message["role"] in ("user", "assistant")]
        return tuple(text for content in turns for text in _plain(content))

    def calls(self) -> tuple[SeenCall, ...]:
        """Return every tool call in the history."""
        return tuple(call for message in self.messages for call in _calls_of(message))

    def last_results(self) -> tuple[SeenResult, ...]:
        """Return the tool results since the assistant's last message."""
        turns = self.messages
        last = max((index for index, turn in enumerate(turns) if turn["role"] == "assistant"), default=-1)
        names = {call.id: call.name for call in self.calls()}
        return tuple(result for turn in turns[last + 1 :] for result in _results_of(turn, names))

    def results(self) -> tuple[SeenResult, ...]:
        """Return every tool result in the history."""
        names = {call.id: call.name for call in self.calls()}
        return tuple(result for turn in self.messages for result in _results_of(turn, names))


def _plain(content: Any) -> Iterator[str]:
    """Yield the texts of a message content, without calls, results and thinking."""
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "text":
            yield block["text"]


def _calls_of(message: dict[str, Any]) -> Iterator[SeenCall]:
    for block in message["content"] if isinstance(message.get("content"), list) else ():
        if block.get("type") == "tool_use":
            yield SeenCall(block["id"], block["name"], block["input"])
    for item in message.get("tool_calls") or ():
        function = item.get("function") or item["custom"]
        yield SeenCall(item["id"], function["name"], function.get("arguments", function.get("input")))


def _results_of(message: dict[str, Any], names: Mapping[str, str]) -> Iterator[SeenResult]:
    if message["role"] == "tool":
        yield _result(message["tool_call_id"], message["content"], False, names)
    for block in message["content"] if isinstance(message.get("content"), list) else ():
        if block.get("type") == "tool_result":
            yield _result(block["tool_use_id"], block.get("content"), bool(block.get("is_error")), names)


def _result(call_id: str, content: Any, is_error: bool, names: Mapping[str, str]) -> SeenResult:
    return SeenResult(call_id, names.get(call_id, ""), "\n".join(_plain(content)), is_error)
