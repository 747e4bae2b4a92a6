"""An answer as it arrives becomes blocks, whatever the pieces are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.cli.chat.render.flow import MAX_BLOCK_CHARS, MAX_FENCE_CHARS, Block, Flow

ANSWER = "# Title\nIntro\nmore\n\n```py\na = 1\n\nb = 2\n```\n- one\n\n  still one\n- two\n\nEnd"


def blocks(*pieces: str) -> list[str]:
    flow = Flow()
    made = [block for piece in pieces for block in flow.feed(piece)]
    return [block.text for block in [*made, *flow.finish()]]


def test_blocks_end_at_blank_lines_outside_of_fences() -> None:
    assert blocks(ANSWER) == [
        "# Title",
        "Intro\nmore",
        "```py\na = 1\n\nb = 2\n```",
        "- one\n\n  still one\n- two",
        "End",
    ]


@given(st.lists(st.integers(1, 9), max_size=40))
def test_the_pieces_do_not_matter(sizes: list[int]) -> None:
    pieces, rest = [], ANSWER
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    assert blocks(*pieces, rest) == blocks(ANSWER)


lines = st.sampled_from(
    ["", "words", "- item", "  more", "```", "```py", "~~~", "1. one", "# head", "    deep", "| a |"]
)


@given(st.lists(lines, max_size=30), st.integers(0, 5))
def test_no_line_is_lost_and_none_comes_twice(given_lines: list[str], most: int) -> None:
    text = "\n".join(f"{line} {number}" if line.strip("`~") else line for number, line in enumerate(given_lines))
    flow, made = Flow(), []
    for line in text.splitlines(keepends=True):
        made += [*flow.feed(line), *flow.spill(most)]
    made += flow.finish()
    shown = [line for block in made for line in block.text.split("\n")]
    numbered = [line for line in text.split("\n") if line.strip() and line.strip()[-1].isdigit()]
    assert [line for line in shown if line in numbered and not line.startswith("```")] == [
        line for line in numbered if not line.startswith("```")
    ]


def test_the_tail_is_what_is_not_complete() -> None:
    flow = Flow()
    assert [block.text for block in flow.feed("One.\n\nTwo is not")] == ["One."]
    assert flow.tail == "Two is not"


def test_long_code_is_given_out_before_it_ends_and_stays_code() -> None:
    flow = Flow()
    flow.feed("```py\n" + "".join(f"line {n}\n" for n in range(20)))
    (first,) = flow.spill(10)
    assert first.text.startswith("```py\nline 0\n")
    assert first.text.endswith("line 19\n```")
    assert not first.tight
    (rest,) = flow.feed("line 20\n```\n")
    assert (rest.text, rest.tight) == ("```py\nline 20\n```", True)


def test_a_fence_whose_code_is_out_already_leaves_nothing_behind() -> None:
    flow = Flow()
    flow.feed("```\n" + "code\n" * 20)
    assert len(flow.spill(10)) == 1
    assert flow.feed("```\n") == []
    assert flow.finish() == []


def test_long_lists_are_given_out_item_by_item() -> None:
    flow = Flow()
    flow.feed("".join(f"{n}. item\n" for n in range(1, 21)))
    (first,) = flow.spill(10)
    assert first.text.split("\n")[-1] == "19. item"
    (last,) = flow.finish()
    assert (last.text, last.tight) == ("20. item", True)


@pytest.mark.parametrize(
    "text",
    ["a\n", "a ", "- a\n", "  - a\n", "```py\n", "| a | b |\n|---|---|\n", "```" + "x" * 9_000 + "\nb\n", "> a\n"],
)
@pytest.mark.parametrize("size", [7, 100_000])
def test_whatever_arrives_no_block_is_too_long_to_be_rendered_again_and_again(text: str, size: int) -> None:
    text = (text * (100_000 // len(text) + 1))[:100_000]
    flow, found, longest = Flow(), list[Block](), 0
    for at in range(0, len(text), size):
        found += [*flow.feed(text[at : at + size]), *flow.spill(12)]
        longest = max(longest, len(flow.tail))
    found += flow.finish()
    assert longest <= 2 * MAX_BLOCK_CHARS + 2
    assert max(len(block.text) for block in found) <= 2 * MAX_BLOCK_CHARS + 2 * MAX_FENCE_CHARS
    assert sum(len(block.text) for block in found) <= 30 * len(text), "no mark is repeated at length"


def test_a_long_paragraph_is_given_out_in_parts_that_hang_together() -> None:
    lines = [f"line {number}" for number in range(2_000)]
    flow = Flow()
    found = [*flow.feed("\n".join(lines)), *flow.finish()]
    assert "\n".join(block.text for block in found).split("\n") == lines
    assert [block.tight for block in found] == [False, *[True] * (len(found) - 1)]
    assert len(found) > 1
