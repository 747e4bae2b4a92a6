"""The layered picture. A tracer follows its lines as a reader would and must find exactly the edges."""

import re
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.terminal import layers
from outlive.tasks.drawing.text import cells
from tests.tasks.drawing.plans import RELEASE, edges_of, graphs, plan, tasks_of, unstyled

LABEL = re.compile(r"[○◌◐✓✗] (\d+)( [a-z]+)?")
ARMS = {
    "│": "ud",
    "─": "lr",
    "╭": "dr",
    "╮": "dl",
    "╰": "ur",
    "╯": "ul",
    "├": "udr",
    "┤": "udl",
    "┬": "dlr",
    "┴": "ulr",
    "┼": "udlr",
}
STEP = {"u": (-1, 0), "d": (1, 0), "r": (0, 1)}


def drawn(*rows: str, width: int = 100) -> str:
    return layers(plan(*rows), width=width, style=unstyled)


def picture(text: str) -> str:
    return dedent(text).strip("\n")


def traced(text: str) -> set[tuple[int, int]]:
    """The edges a reader finds by following the lines to the right."""
    rows = text.splitlines()
    starts = {(row, found.start()): int(found[1]) for row, line in enumerate(rows) for found in LABEL.finditer(line)}
    edges = set()
    for row, line in enumerate(rows):
        for found in LABEL.finditer(line):
            if line[found.end() : found.end() + 2] == " ─":
                edges |= {(int(found[1]), starts[end]) for end in _ends(rows, row, found.end() + 1)}
    return edges


def _ends(rows: list[str], row: int, column: int) -> set[tuple[int, int]]:
    ends = set()
    seen = set()
    heads = [(row, column, "r")]
    while heads:
        row, column, way = heads.pop()
        if (row, column, way) in seen:
            continue
        seen.add((row, column, way))
        glyph = rows[row][column]
        if glyph == "▸":
            ends.add((row, column + 2))
            continue
        arms = ARMS[glyph]
        came_by = {"r": "l", "u": "d", "d": "u"}[way]
        # A line that meets one without an arm towards it passes under.
        onward = [arm for arm in arms if arm not in (came_by, "l")] if came_by in arms else [way]
        for arm in onward:
            down, right = STEP[arm]
            heads.append((row + down, column + right, arm))
    return ends


def test_a_fork_and_a_join() -> None:
    assert layers(RELEASE, width=120, style=unstyled) == picture("""
        ✓ 1 Agree on the format ─┬─▸ ◐ 2 Write the parser ──┬─▸ ◌ 4 Test the round trip ──▸ ◌ 5 Release
                                 ╰─▸ ○ 3 Write the printer ─╯
    """)


def test_subjects_wrap_when_the_width_is_short() -> None:
    assert layers(RELEASE, width=80, style=unstyled) == picture("""
                          ╭─▸ ◐ 2 Write the ─╮
        ✓ 1 Agree on the ─┤       parser     ├─▸ ◌ 4 Test the ────▸ ◌ 5 Release
            format        ╰─▸ ○ 3 Write the ─╯       round trip
                                  printer
    """)


def test_a_narrow_terminal_gets_a_list_by_layer() -> None:
    assert layers(RELEASE, width=40, style=unstyled) == picture("""
        step 1
          ✓ 1 Agree on the format
        step 2
          ◐ 2 Write the parser  ← 1
          ○ 3 Write the printer  ← 1
        step 3
          ◌ 4 Test the round trip  ← 2, 3
        step 4
          ◌ 5 Release  ← 4
    """)


def test_a_long_edge_passes_the_columns_between() -> None:
    assert drawn("1 a", "2 b < 1", "3 c < 1 2") == picture("""
               ╭─▸ ◌ 2 b ─╮
        ○ 1 a ─┴──────────┴─▸ ◌ 3 c
    """)


def test_a_swap_finds_its_way() -> None:
    text = drawn("1 a", "2 b", "3 c < 1 2", "4 d < 1 2", "5 e < 3 4")
    assert traced(text) == {(1, 3), (1, 4), (2, 3), (2, 4), (3, 5), (4, 5)}


def test_groups_without_an_edge_between_them_are_apart_and_single_tasks_come_last() -> None:
    assert drawn("1 a", "2 alone", "3 b < 1", "4 c", "5 d < 4") == picture("""
        ○ 1 a ──▸ ◌ 3 b

        ○ 4 c ──▸ ◌ 5 d

        ○ 2 alone
    """)


def test_a_cycle_is_drawn_open_and_named() -> None:
    assert drawn("1 hen < 2", "2 egg < 1") == picture("""
        ◌ 1 hen ──▸ ◌ 2 egg

        ↻ 2 → 1 closes a cycle
    """)


def test_too_many_rows_get_a_list() -> None:
    tasks = tasks_of([(1, "root", "pending", ()), *((number, "leaf", "pending", (1,)) for number in range(2, 100))])
    assert layers(tasks, width=200, style=unstyled).startswith("step 1\n")


def test_style_may_add_what_takes_no_room() -> None:
    def red(text: str, task: Task) -> str:
        return f"\x1b[31m{text}\x1b[0m"

    coloured = layers(RELEASE, width=80, style=red)
    assert re.sub("\x1b\\[[0-9]+m", "", coloured) == layers(RELEASE, width=80, style=unstyled)


def test_no_tasks_make_no_text() -> None:
    assert layers([], width=80, style=unstyled) == ""


@given(graphs(cycles=False, size=20, subject=st.sampled_from(["a", "bc", "longer"])))
def test_the_lines_lead_along_the_edges_and_nowhere_else(tasks: list[Task]) -> None:
    text = layers(tasks, width=1000, style=unstyled)
    if not text.startswith("step"):
        assert traced(text) == edges_of(tasks)


@given(graphs(), st.integers(24, 200))
def test_no_line_is_wider_than_asked(tasks: list[Task], width: int) -> None:
    for line in layers(tasks, width=width, style=unstyled).splitlines():
        assert cells(line) <= width
