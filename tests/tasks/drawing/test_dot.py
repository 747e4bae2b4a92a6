import html
import re

from hypothesis import given

from outlive.printable import one_line
from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.dot import dot
from tests.tasks.drawing.plans import RELEASE, edges_of, graphs, plan

TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(->|[{}\[\];,=])|([A-Za-z_][A-Za-z0-9_]*|[0-9.]+))')


def tokens(text: str) -> list[str]:
    """The words of the language; a quoted string keeps its opening quote."""
    result = []
    end = 0
    while end < len(text.rstrip()):
        found = TOKEN.match(text, end)
        assert found, text[end:][:80]
        result.append('"' + found[1] if found[1] is not None else found[2] or found[3])
        end = found.end()
    return result


def parsed(text: str) -> tuple[dict[int, dict[str, str]], set[tuple[int, int]]]:
    words = tokens(text)
    assert words[:3] == ["digraph", "tasks", "{"]
    assert words[-1] == "}"
    nodes: dict[int, dict[str, str]] = {}
    edges = set()
    statement: list[str] = []
    for word in words[3:-1]:
        if word != ";":
            statement.append(word)
            continue
        if statement[1:2] == ["->"]:
            edges.add((int(statement[0][1:]), int(statement[2][1:])))
        elif re.fullmatch(r"t\d+", statement[0]):
            inner = statement[2:-1]
            nodes[int(statement[0][1:])] = {inner[at]: inner[at + 2] for at in range(0, len(inner), 4)}
        statement = []
    assert not statement
    return nodes, edges


def shown(string: str) -> str:
    """What Graphviz makes of a quoted label: escapes, then HTML entities."""
    assert string.startswith('"')
    text = re.sub(r"\\(.)", lambda escape: {"n": " "}.get(escape[1], escape[1]), string[1:])
    return html.unescape(text)


def test_a_small_plan() -> None:
    nodes, edges = parsed(dot(RELEASE))
    assert shown(nodes[2]["label"]) == "◐ 2 Write the parser"
    assert edges == {(1, 2), (1, 3), (2, 4), (3, 4), (4, 5)}


def test_quotes_backslashes_and_entities_are_escaped() -> None:
    text = dot(plan('1 "a" \\N &amp; \\'))
    assert 'label="○ 1 \\"a\\" \\\\N &amp;amp; \\\\"' in text
    assert shown(parsed(text)[0][1]["label"]) == '○ 1 "a" \\N &amp; \\'


def test_long_subjects_wrap() -> None:
    assert 'label="○ 1 a subject that goes on\\nand on for more than a line"' in dot(
        plan("1 a subject that goes on and on for more than a line")
    )


def test_an_edge_that_closes_a_cycle_is_marked_and_does_not_shape_the_picture() -> None:
    assert re.search(r"t2 -> t1 \[.*constraint=false\]", dot(plan("1 hen < 2", "2 egg < 1")))


@given(graphs())
def test_any_graph_is_read_back(tasks: list[Task]) -> None:
    nodes, edges = parsed(dot(tasks))
    assert {number: shown(node["tooltip"]) for number, node in nodes.items()} == {
        task.id: one_line(task.subject) for task in tasks
    }
    assert edges == edges_of(tasks)
