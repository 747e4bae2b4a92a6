"""The models that the simulator knows and what each accepts. The names are those of the installed SDKs."""

from collections.abc import Iterable
from dataclasses import dataclass

BUDGET, ADAPTIVE, OFF, BETWEEN = "enabled", "adaptive", "disabled", "between_tools"
ALWAYS, UNREASONED, NEVER = "always", "unreasoned", "never"
"""Whether the chat API of OpenAI takes tools: always, without reasoning, or only the Responses API does."""


@dataclass(frozen=True)
class SimulatedModel:
    """A model as its provider would describe it. Make your own for names that are not in the list."""

    name: str
    provider: str = "anthropic"
    max_output: int = 64_000
    thinking: frozenset[str] = frozenset({ADAPTIVE, OFF, BETWEEN})
    """Anthropic: accepted values of `thinking.type`."""
    thinks_unasked: bool = False
    """Anthropic: thinking is on by default."""
    prefill: bool = False
    """Anthropic: the last message may be the start of the answer."""
    system_turns: bool = True
    """Anthropic: accepts messages with the role `system`."""
    compacts: bool = True
    """Anthropic: summarizes a conversation on demand."""
    binds_thinking: bool = False
    """Anthropic: thinking is valid only after the conversation that it was made in."""
    reasoning: bool = False
    """OpenAI: reasons; accepts `max_completion_tokens` only."""
    chat_tools: str = ALWAYS
    """OpenAI: `always`, `unreasoned` (with `reasoning_effort: none`) or `never`: tools are in the Responses API."""
    breakpoints: bool = False
    """OpenAI: the prompt cache is written and read at breakpoints."""


def _claude() -> Iterable[SimulatedModel]:
    manual = frozenset({BUDGET, OFF})
    for name in ("claude-haiku-4-5", "claude-haiku-4-5-20251001", "claude-opus-4-5", "claude-opus-4-5-20251101"):
        yield SimulatedModel(name, thinking=manual, prefill=True, system_turns=False, compacts=False)
    for name in ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"):
        yield SimulatedModel(name, thinking=manual, prefill=True, system_turns=False, compacts=False)
    for name in ("claude-opus-4-6", "claude-sonnet-4-6"):
        yield SimulatedModel(name, max_output=128_000, thinking=manual | {ADAPTIVE}, system_turns=False)
    yield SimulatedModel("claude-opus-4-7", max_output=128_000, system_turns=False)
    yield SimulatedModel("claude-sonnet-5", max_output=128_000, thinks_unasked=True, system_turns=False)
    yield SimulatedModel("claude-opus-4-8", max_output=128_000)
    yield SimulatedModel("claude-opus-5", max_output=128_000, thinks_unasked=True)
    for name in ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"):
        yield SimulatedModel(name, max_output=128_000, thinks_unasked=True, binds_thinking=True)
    always = frozenset({ADAPTIVE})
    for name in ("claude-fable-5", "claude-mythos-5"):
        yield SimulatedModel(name, max_output=128_000, thinking=always, thinks_unasked=True)
    for name in ("claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1", "claude-mythos-5-2"):
        yield SimulatedModel(name, max_output=128_000, thinking=always, thinks_unasked=True, binds_thinking=True)


def _gpt() -> Iterable[SimulatedModel]:
    for name in ("gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-5.2", "gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "o3", "o4-mini"):
        yield SimulatedModel(name, "openai", 128_000, reasoning=True)
    for name in ("gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-6-sol", "gpt-6-luna"):
        yield SimulatedModel(name, "openai", 128_000, reasoning=True, chat_tools=UNREASONED, breakpoints=True)
    for name in ("gpt-6-astra", "gpt-6.1-sol", "gpt-6.1-terra"):
        yield SimulatedModel(name, "openai", 128_000, reasoning=True, chat_tools=NEVER, breakpoints=True)
    for name in ("gpt-4.1", "gpt-4.1-mini"):
        yield SimulatedModel(name, "openai", 32_768)
    for name in ("gpt-4o", "gpt-4o-mini"):
        yield SimulatedModel(name, "openai", 16_384)


KNOWN: tuple[SimulatedModel, ...] = (*_claude(), *_gpt())
