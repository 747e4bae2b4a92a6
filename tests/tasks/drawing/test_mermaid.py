import re

from hypothesis import given

from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.diagram import label
from outlive.tasks.drawing.marks import state
from outlive.tasks.drawing.mermaid import mermaid
from tests.tasks.drawing.plans import RELEASE, edges_of, graphs, plan

NODE = re.compile(r'    t(\d+)\["([^"\n]*)"\]:::([a-z_]+)')
EDGE = re.compile(r"    t(\d+) (?:-->|-\. cycle \.->) t(\d+)")
CLASS = re.compile(r"    classDef ([a-z_]+) fill:#\w{6},stroke:#\w{6},color:#\w{6}(,stroke-[a-z]+:[\w ]+)?")
# Entities are codes only; every other ASCII sign might mean something to Mermaid, Markdown or HTML.
LABEL = re.compile(r"(?:#\d+;|[A-Za-z0-9 ,.-]|[^\x00-\x7f])*")


def parsed(text: str) -> tuple[dict[int, tuple[str, str]], set[tuple[int, int]], set[str]]:
    """Nodes with label and class, edges, classes: by the few forms that are used, and nothing else."""
    first, *lines = text.splitlines()
    assert first == "flowchart LR"
    nodes, edges, classes = {}, set(), set()
    for line in lines:
        if found := NODE.fullmatch(line):
            assert LABEL.fullmatch(found[2])
            decoded = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), found[2])
            nodes[int(found[1])] = (decoded, found[3])
        elif found := EDGE.fullmatch(line):
            edges.add((int(found[1]), int(found[2])))
        else:
            found = CLASS.fullmatch(line)
            assert found, line
            classes.add(found[1])
    return nodes, edges, classes


def test_a_small_plan() -> None:
    assert mermaid(RELEASE[:3]) == (
        "flowchart LR\n"
        '    t1["✓ 1 Agree on the format"]:::completed\n'
        '    t2["◐ 2 Write the parser"]:::in_progress\n'
        '    t3["○ 3 Write the printer"]:::ready\n'
        "    t1 --> t2\n"
        "    t1 --> t3\n"
        "    classDef ready fill:#eff6ff,stroke:#2563eb,color:#172554\n"
        "    classDef in_progress fill:#fffbeb,stroke:#d97706,color:#451a03,stroke-width:2px\n"
        "    classDef completed fill:#f0fdf4,stroke:#16a34a,color:#14532d\n"
    )


def test_signs_are_escaped() -> None:
    assert '["○ 1 a #34;b#34; #91;c#93; #96;d#96; #35;e #60;br#62; end"]' in mermaid(
        plan('1 a "b" [c] `d` #e <br> end')
    )


def test_an_edge_that_closes_a_cycle_is_marked() -> None:
    assert "    t2 -. cycle .-> t1\n" in mermaid(plan("1 hen < 2", "2 egg < 1"))


@given(graphs())
def test_any_graph_is_read_back(tasks: list[Task]) -> None:
    nodes, edges, classes = parsed(mermaid(tasks))
    assert nodes == {task.id: (label(task), state(task)) for task in tasks}
    assert edges == edges_of(tasks)
    assert classes == {state(task) for task in tasks}
