import re
from textwrap import dedent

from hypothesis import given

from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.terminal import tree
from tests.tasks.drawing.plans import RELEASE, edges_of, graphs, plan, tasks_of, unstyled


def drawn(*lines: str) -> str:
    return tree(plan(*lines), style=unstyled)


def lines(text: str) -> str:
    return dedent(text).strip("\n")


def test_a_plan_reads_from_the_top() -> None:
    assert tree(RELEASE, style=unstyled) == lines("""
        ✓ 1 Agree on the format
        ├─ ◐ 2 Write the parser
        └─ ○ 3 Write the printer
           ↳ ◌ 4 Test the round trip  ↑ 2
           ↳ ◌ 5 Release
    """)


def test_a_task_with_two_parents_is_drawn_once_under_the_last_of_them() -> None:
    assert drawn("1 a", "2 b", "3 c < 1 2") == lines("""
        ○ 1 a
        ○ 2 b
        ↳ ◌ 3 c  ↑ 1
    """)


def test_a_chain_does_not_indent() -> None:
    assert drawn("1 a", "2 b < 1", "3 c < 2", "4 d < 3", "5 e < 3", "6 f < 5") == lines("""
        ○ 1 a
        ↳ ◌ 2 b
        ↳ ◌ 3 c
          ├─ ◌ 4 d
          └─ ◌ 5 e
             ↳ ◌ 6 f
    """)


def test_what_the_nesting_says_is_not_said_again() -> None:
    assert drawn("1 a", "2 b < 1", "3 c < 1 2") == "○ 1 a\n↳ ◌ 2 b\n↳ ◌ 3 c"


def test_an_edge_that_closes_a_cycle_is_named() -> None:
    assert drawn("1 hen < 3", "2 egg < 1", "3 chick < 2") == lines("""
        ◌ 1 hen  ↻ 3
        ↳ ◌ 2 egg
        ↳ ◌ 3 chick
    """)


def test_an_open_dependency_that_is_not_shown_is_named() -> None:
    assert drawn("7 b < 3 4") == "◌ 7 b  waits for 3, 4"


def test_a_finished_dependency_that_is_not_shown_is_left_out() -> None:
    shown = [task for task in plan("✓ 1 a", "2 b < 1") if task.id == 2]
    assert tree(shown, style=unstyled) == "○ 2 b"


def test_a_subject_with_escapes_cannot_take_over_the_terminal() -> None:
    assert drawn("1 a\x1b[2J\nb") == "○ 1 a␛[2J b"


def test_no_tasks_make_no_text() -> None:
    assert tree([], style=unstyled) == ""


def test_style_sees_each_label_and_each_reference_with_its_task() -> None:
    def bracketed(text: str, task: Task) -> str:
        return f"<{task.id}:{text}>"

    assert tree(plan("1 a", "2 b", "3 c < 1 2"), style=bracketed).splitlines() == [
        "<1:○ 1 a>",
        "<2:○ 2 b>",
        "↳ <3:◌ 3 c>  ↑ <1:1>",
    ]


def test_deep_branching_continues_at_the_margin() -> None:
    rows = [
        f"{number} t" + (f" < {number - 1 if number % 2 == 0 else number - 2}" if number > 2 else "")
        for number in range(1, 400)
    ]
    text = drawn(*rows)
    assert max(map(len, text.splitlines())) < 90
    assert len(text.splitlines()) == 399


def test_a_chain_of_thousands_is_drawn() -> None:
    rows = tasks_of([(number, "t", "pending", (number - 1,) if number > 1 else ()) for number in range(1, 3001)])
    assert len(tree(rows, style=unstyled).splitlines()) == 3000


@given(graphs(cycles=False))
def test_every_task_has_one_line_below_all_it_depends_on(tasks: list[Task]) -> None:
    text = tree(tasks, style=unstyled)
    order = [int(found) for found in re.findall(r"^[│├└─↳ ]*[○◌◐✓✗] (\d+)", text, re.MULTILINE)]
    assert sorted(order) == sorted(task.id for task in tasks)
    assert all(order.index(before) < order.index(after) for before, after in edges_of(tasks))
