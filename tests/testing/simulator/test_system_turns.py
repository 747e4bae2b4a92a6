"""Messages of the system in the middle of a conversation: where they may be, and those that are shown once."""

from collections.abc import Iterator
from typing import Any

import pytest

from outlive.testing import Simulator, say
from tests.testing.simulator.talking import (
    TOOL,
    ask_claude,
    assistant,
    claude,
    result,
    system,
    text,
    use,
    user,
)

CLEAR_AT = "mid-conversation-system-clear-at-2026-08-21"
ONCE = {"clear_at": "next_user_message"}
BREAK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
THOUSAND = "x" * 3200
HUNDRED = "y" * 320


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(brain=lambda request: say("Fine.")) as simulator:
        yield simulator
        simulator.verify()


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "first": (claude(system("x"), user("x")), "messages.0: use the top-level 'system' parameter for the initial"),
    "after the assistant": (
        claude(user("x"), assistant("y"), system("z")),
        "messages.2: role 'system' must follow a 'user' message",
    ),
    "before the user": (
        claude(user("x"), system("y"), user("z")),
        "messages.1: role 'system' must precede an 'assistant' message or end the array",
    ),
    "between two halves of the results": (
        claude(user("x"), assistant(use("t1"), use("t2")), user(result("t1")), system("y"), user(result("t2"))),
        "messages.3: role 'system' must precede an 'assistant' message or end the array",
    ),
    "two in a row": (
        claude(user("x"), system("y"), system("z")),
        "messages.1: role 'system' must precede an 'assistant' message or end the array",
    ),
    "an image": (
        claude(user("x"), system([{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}])),
        "messages.1: role 'system' supports text, tool_addition, and tool_removal blocks only",
    ),
    "empty": (claude(user("x"), system("")), "messages.1: all messages must have non-empty content"),
    "blank": (claude(user("x"), system(" ")), "messages: text content blocks must contain non-whitespace text"),
    "on an older model": (
        claude(user("x"), system("y"), model="claude-opus-4-7"),
        "messages.1: role 'system' is not supported on this model",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(sim: Simulator, name: str) -> None:
    body, words = REFUSED[name]
    assert ask_claude(sim, body).error["message"].startswith(words)
    for message in body["messages"]:
        message |= ONCE if message["role"] == "system" else {}
    assert ask_claude(sim, body, beta=CLEAR_AT).error["message"].startswith(words)  # nor if it is shown once


@pytest.mark.parametrize(
    "body",
    [
        claude(user("x"), system("y")),
        claude(user("x"), system([text("y"), text("z", **BREAK)]), assistant("a"), user("b"), system("c")),
        claude(user("x"), assistant(use("t1")), user(result("t1")), system("y")),
        claude(user("x"), system("y"), model="claude-opus-4-8"),
    ],
)
def test_it_is_accepted(sim: Simulator, body: dict[str, Any]) -> None:
    assert ask_claude(sim, body).status == 200


@pytest.mark.parametrize(
    ("message", "beta", "words"),
    [
        (system("y", **ONCE), "", "messages.1.clear_at: Extra inputs are not permitted"),
        (
            assistant("y") | ONCE,
            CLEAR_AT,
            "messages.1.clear_at: clear_at is only permitted on role 'system' messages",
        ),
        (
            system("y", clear_at="soon"),
            CLEAR_AT,
            "messages.1.clear_at: Input should be 'next_user_message' or 'never'",
        ),
        (system("y", clear_at=1), CLEAR_AT, "messages.1.clear_at: Input should be 'next_user_message' or 'never'"),
        (
            system([text("y", **BREAK)], **ONCE),
            CLEAR_AT,
            "messages.1.content.0: cache_control is not permitted on a turn-scoped system message (clear_at: 'next_",
        ),
    ],
)
def test_when_it_is_cleared_is_checked(sim: Simulator, message: dict[str, Any], beta: str, words: str) -> None:
    assert ask_claude(sim, claude(user("x"), message), beta=beta).error["message"].startswith(words)


@pytest.mark.parametrize("clear_at", ["next_user_message", "never", None])
def test_it_may_say_when_it_is_cleared(sim: Simulator, clear_at: str | None) -> None:
    assert ask_claude(sim, claude(user("x"), system("y", clear_at=clear_at)), beta=CLEAR_AT).status == 200


EFFORT = "per-turn-control-2026-07-01"
LOW: dict[str, Any] = {"output_config": {"effort": "low"}}


@pytest.mark.parametrize(
    "messages",
    [
        [user("x"), system("y", **LOW)],
        [user("x"), system("y", output_config={})],
        [user("x"), system([], **LOW), user("y")],  # without text it may be anywhere
        [system([], **LOW), user("x")],
    ],
)
@pytest.mark.parametrize("beta", [EFFORT, "mid-conversation-output-config-2026-07-01"])
def test_it_may_set_the_effort(sim: Simulator, messages: list[dict[str, Any]], beta: str) -> None:
    assert ask_claude(sim, claude(*messages), beta=beta).status == 200


@pytest.mark.parametrize(
    ("message", "beta", "words"),
    [
        (system("y", **LOW), "", "messages.1.output_config: Extra inputs are not permitted"),
        (assistant("y") | LOW, EFFORT, "messages.1.output_config: output_config is only permitted on role 'system'"),
        (system("y", output_config={"effort": "huge"}), EFFORT, "messages.1.output_config.effort: Input should be"),
        (system("y", output_config={"format": {}}), EFFORT, "messages.1.output_config.format: Extra inputs are not"),
        (system([], output_config={}), EFFORT, "messages.1: all messages must have non-empty content"),
    ],
)
def test_the_effort_is_checked(sim: Simulator, message: dict[str, Any], beta: str, words: str) -> None:
    assert ask_claude(sim, claude(user("x"), message), beta=beta).error["message"].startswith(words)


def size(sim: Simulator, *messages: dict[str, Any]) -> Any:
    heard = ask_claude(sim, claude(*messages), beta=CLEAR_AT)
    counted = {"model": claude()["model"], "messages": list(messages)}
    count = ask_claude(sim, counted, path="/v1/messages/count_tokens", beta=CLEAR_AT).body["input_tokens"]
    assert heard.body["usage"]["input_tokens"] == count
    return count


def test_a_cleared_message_is_not_counted(sim: Simulator) -> None:
    assert size(sim, user(HUNDRED), system(HUNDRED, **ONCE)) == 200
    assert size(sim, user(HUNDRED), system(HUNDRED, **ONCE), assistant(HUNDRED), user(HUNDRED)) == 300
    assert size(sim, user(HUNDRED), system(HUNDRED, clear_at="never"), assistant(HUNDRED), user(HUNDRED)) == 400
    again = system(HUNDRED, **ONCE)
    assert size(sim, user(HUNDRED), again, assistant(HUNDRED), user(HUNDRED), again) == 400  # only the last is shown


def test_results_of_tools_are_a_user_message_that_clears(sim: Simulator) -> None:
    said = [user(HUNDRED), system(HUNDRED, **ONCE), assistant(use("t1"))]
    call = size(sim, user(HUNDRED), assistant(use("t1")), user(result("t1", HUNDRED)))
    assert size(sim, *said, user(result("t1", HUNDRED))) == call


def test_a_cleared_message_makes_room_in_the_window() -> None:
    with Simulator(brain=lambda request: say("Fine."), window=350) as sim:
        said = [user(HUNDRED), system(HUNDRED, **ONCE), assistant(HUNDRED), user(HUNDRED)]
        assert ask_claude(sim, claude(*said), beta=CLEAR_AT).status == 200
        assert "prompt is too long" in ask_claude(sim, claude(*said, system(HUNDRED)), beta=CLEAR_AT).error["message"]


def cost(sim: Simulator, *messages: dict[str, Any], **more: Any) -> tuple[int, int, int]:
    """Plain, written and read tokens."""
    heard = ask_claude(sim, claude(*messages, **more), beta=CLEAR_AT)
    assert heard.status == 200, heard.body
    usage = heard.body["usage"]
    return usage["input_tokens"], usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]


def marked(words: str) -> dict[str, Any]:
    return user(text(words, **BREAK))


def test_the_cache_reads_up_to_a_message_that_was_cleared_and_further_once_it_is(sim: Simulator) -> None:
    once = system(HUNDRED, **ONCE)
    assert cost(sim, marked(THOUSAND * 2), once) == (100, 2000, 0)
    second = [user(THOUSAND * 2), once, assistant(HUNDRED)]
    assert cost(sim, *second, marked(HUNDRED), once) == (100, 200, 2000)  # the answer in between is written again
    third = [*second, user(HUNDRED), once, assistant(HUNDRED)]
    assert cost(sim, *third, marked(HUNDRED), once) == (100, 200, 2200)
    assert cost(sim, *third, marked(HUNDRED), once) == (100, 0, 2400)


def test_a_lasting_message_is_cached_like_any_other(sim: Simulator) -> None:
    lasting = system([text(HUNDRED, **BREAK)])
    assert cost(sim, user(THOUSAND * 2), lasting) == (0, 2100, 0)
    assert cost(sim, user(THOUSAND * 2), system(HUNDRED), assistant(HUNDRED), marked(HUNDRED)) == (0, 200, 2100)


def test_changing_or_removing_a_cleared_message_breaks_the_cache_from_there(sim: Simulator) -> None:
    def said(*between: dict[str, Any]) -> list[dict[str, Any]]:
        return [marked(THOUSAND * 2), *between, assistant(HUNDRED), marked(HUNDRED)]

    cost(sim, *said(system(HUNDRED, **ONCE)))
    assert cost(sim, *said(system(HUNDRED, **ONCE))) == (0, 0, 2200)
    assert cost(sim, *said(system("other", **ONCE))) == (0, 200, 2000)
    assert cost(sim, *said()) == (0, 200, 2000)


def test_the_breakpoint_of_the_request_is_not_put_on_what_will_be_cleared(sim: Simulator) -> None:
    once = system(HUNDRED, **ONCE)
    assert cost(sim, user(THOUSAND * 2), once, **BREAK) == (100, 2000, 0)
    assert cost(sim, user(THOUSAND * 2), once, assistant(HUNDRED), user(HUNDRED), **BREAK) == (0, 200, 2000)
    assert cost(sim, user(THOUSAND * 2), system(HUNDRED), tools=[TOOL], **BREAK)[0] == 0


def test_cleared_messages_do_not_use_up_the_lookback(sim: Simulator) -> None:
    once = system(HUNDRED, **ONCE)
    first = [user(THOUSAND * 2)]
    cost(sim, marked(THOUSAND * 2))
    for _ in range(9):
        first += [once, assistant(HUNDRED), user(HUNDRED)]
    assert cost(sim, *first[:-1], marked(HUNDRED)) == (0, 1800, 2000)


# -- tools that come and go

TOOL_CHANGES, INLINE_TOOLS = "mid-conversation-tool-changes-2026-07-01", "inline-tools-2026-09-15"
OTHER_TOOL: Any = {**TOOL, "name": "grep"}


def removed(name: str) -> dict[str, Any]:
    return {"type": "tool_removal", "tool": {"type": "tool_reference", "name": name}}


def added(tool: str | dict[str, Any]) -> dict[str, Any]:
    known = {"type": "tool_reference", "name": tool}
    return {
        "type": "tool_addition",
        "tool": known if isinstance(tool, str) else {"type": "tool_definition", "definition": tool},
    }


def changing(*blocks: dict[str, Any]) -> dict[str, Any]:
    return claude(user("x"), system(list(blocks)), tools=[TOOL])


@pytest.mark.parametrize(
    ("blocks", "betas", "offered"),
    [
        ([removed("bash")], TOOL_CHANGES, []),
        ([removed("bash"), added("bash")], TOOL_CHANGES, ["bash"]),
        ([added(OTHER_TOOL)], f"{TOOL_CHANGES},{INLINE_TOOLS}", ["bash", "grep"]),
        ([text("y"), added(OTHER_TOOL), removed("grep")], INLINE_TOOLS, ["bash"]),
    ],
)
def test_tools_come_and_go_by_blocks(
    sim: Simulator, blocks: list[dict[str, Any]], betas: str, offered: list[str]
) -> None:
    assert ask_claude(sim, changing(*blocks), beta=betas).status == 200
    assert list(sim.requests[-1].tools) == offered


@pytest.mark.parametrize(
    ("blocks", "betas", "words"),
    [
        ([removed("bash")], "", "messages.1.content.0: `tool_removal` blocks require the"),
        ([added(OTHER_TOOL)], TOOL_CHANGES, "messages.1.content.0.tool_addition.tool: `tool_definition` requires"),
        ([removed("grep")], TOOL_CHANGES, "messages.1.content.0.tool_removal.tool.name: Tool 'grep' not found"),
        (
            [{"type": "tool_removal", "tool": added(OTHER_TOOL)["tool"]}],
            INLINE_TOOLS,
            "messages.1.content.0.tool_removal.tool.type: Input should be 'tool_reference'",
        ),
        ([added({"name": "a b"})], INLINE_TOOLS, "tools.0.custom"),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    sim: Simulator, blocks: list[dict[str, Any]], betas: str, words: str
) -> None:
    assert ask_claude(sim, changing(*blocks), beta=betas).error["message"].startswith(words)


def test_only_the_system_changes_tools(sim: Simulator) -> None:
    body = claude(user(removed("bash")), tools=[TOOL])
    words = "messages.0.content.0: `tool_removal` blocks can only be in `system` messages"
    assert ask_claude(sim, body, beta=TOOL_CHANGES).error["message"] == words
