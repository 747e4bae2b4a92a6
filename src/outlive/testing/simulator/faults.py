"""Injected faults.

Some replace the answer (a status, a broken stream, an empty answer, a refusal, too long): the step of the script
stays for the next request. Others change the answer of the step (slow, cut off at a length, sloppy calls): it is
played.
"""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Fault:
    """One fault of one answer. Made by its class methods."""

    name: str
    code: int = 0
    message: str = ""
    retry_after: float | None = None
    in_milliseconds: bool = False
    delay: float = 0.0
    events: int = 0
    within_line: bool = False
    characters: int = 0
    used: int = 0
    limit: int = 0

    @property
    def replaces_answer(self) -> bool:
        """Whether the step of the script stays for the next request."""
        return self.name not in {"slow", "length"} and not self.only_openai

    @property
    def only_openai(self) -> bool:
        """Whether it applies to OpenAI only; Anthropic's calls are always well formed."""
        return self.name in {"bad arguments", "call as text", "no call ids"}

    @classmethod
    def status(
        cls, code: int, *, retry_after: float | None = None, in_milliseconds: bool = False, message: str = ""
    ) -> Self:
        """Answer with a status: 429, 529, 500, 503, 401…; `retry-after` in seconds, or as `retry-after-ms`."""
        return cls("status", code, message, retry_after, in_milliseconds)

    @classmethod
    def slow(cls, delay: float) -> Self:
        """Wait so many seconds before each event of the stream (or once before a whole answer)."""
        return cls("slow", delay=delay)

    @classmethod
    def cut(cls, after: int, *, within_line: bool = False) -> Self:
        """Close the connection after so many events; `within_line`: in the middle of the next event's data."""
        return cls("cut", events=after, within_line=within_line)

    @classmethod
    def error_event(cls, after: int, *, code: int = 529, message: str = "") -> Self:
        """Send an error event after so many events, like a server that is overloaded in mid-answer."""
        return cls("error event", code, message, events=after)

    @classmethod
    def empty(cls) -> Self:
        """An answer without content."""
        return cls("empty")

    @classmethod
    def refusal(cls) -> Self:
        """The model refuses: `stop_reason: "refusal"`, or `finish_reason: "content_filter"`."""
        return cls("refusal")

    @classmethod
    def max_tokens(cls, characters: int) -> Self:
        """Cut the answer after so many characters, in text or in the JSON of a call."""
        return cls("length", characters=characters)

    @classmethod
    def bad_arguments(cls, arguments: str = "") -> Self:
        """OpenAI: the arguments of each call are invalid JSON: these, or the right ones without the last brace."""
        return cls("bad arguments", message=arguments)

    @classmethod
    def call_as_text(cls, form: str = "<tool_call>\n{call}\n</tool_call>") -> Self:
        """OpenAI: the calls come as text, as small local models write them; `{call}` is the call as JSON."""
        return cls("call as text", message=form)

    @classmethod
    def no_call_ids(cls) -> Self:
        """OpenAI: the calls have no ids."""
        return cls("no call ids")

    @classmethod
    def too_long(cls, used: int, limit: int) -> Self:
        """Refuse the prompt as too long, with these figures, whatever its length."""
        return cls("too long", 400, used=used, limit=limit)
