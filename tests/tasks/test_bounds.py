"""Ids and dependencies have bounds, and what is within them costs work in proportion to its size."""

import json
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.errors import CycleError, DamagedRecord, InvalidTask, OutliveError, UnknownTask
from outlive.stores.tasks.files.names import task_number
from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import MAX_DEPENDENCIES, MAX_ID, MAX_ID_GAP, highest_id
from outlive.tasks import shape
from outlive.tasks.audit import Audit
from outlive.tasks.draft import TaskDraft
from outlive.tasks.edges import refuse_cycles
from outlive.tasks.graph import TaskGraph
from outlive.tasks.transfer import export_lines, import_bundle, read_bundle
from tests.engines import Engine

# -- ids ---------------------------------------------------------------------------------------------------


def test_a_planted_task_at_the_bound_does_not_cost_the_next_task(files: Engine) -> None:
    graph = files.graph()
    graph.create("one")
    (files.path / f"task_{MAX_ID}.json").write_text(json.dumps({"id": MAX_ID, "subject": "planted"}))
    made = files.graph().create("mine")
    assert made.id == 2
    for reader in (graph, files.graph()):
        assert [task.id for task in reader.find(TaskQuery(sort="id"))] == [1, 2, MAX_ID]
        assert reader.get(made.id) == made
    (files.path / ".local/high-water").unlink()
    assert files.graph().create("next").id == 3


@pytest.mark.parametrize("mark", [MAX_ID, MAX_ID - 1, MAX_ID + 1, 10**18, 2**63 - 1, 10**40, MAX_ID_GAP + 2])
def test_a_planted_mark_is_named_and_healed_and_nothing_is_acknowledged(files: Engine, mark: int) -> None:
    graph = files.graph()
    graph.create("one")
    path = files.path / ".local/high-water"
    path.write_text(f"{mark}\n")
    for act in (lambda: graph.create("lost"), lambda: files.graph().create_many([TaskDraft(subject="lost")])):
        with pytest.raises(DamagedRecord, match=r"high-water: .*Nothing was changed; a repair sets it right"):
            act()
    (problem,) = files.graph().doctor()
    assert (problem.where, problem.repairable) == (str(path), True)
    assert len(files.open().repair()) == 1
    assert files.graph().create("two").id == 2
    assert files.graph().doctor() == []


@pytest.mark.parametrize("mark", [-5, 0, 10**18, "'x'", 1.5])
def test_a_planted_counter_of_a_database_is_named_and_healed(sqlite: Engine, mark: object) -> None:
    import sqlite3

    graph = sqlite.graph()
    graph.create("one")
    with sqlite3.connect(sqlite.path) as raw:
        raw.execute(f"UPDATE outlive_task_ids SET last = {mark}")
    raw.close()
    with pytest.raises(DamagedRecord, match="a repair sets it"):
        graph.create("lost")
    assert [task.subject for task in graph.find()] == ["one"], "and nothing was overwritten"
    assert [problem.repairable for problem in graph.doctor()] == [True]
    sqlite.open().repair()
    assert graph.create("two").id == 2
    assert graph.doctor() == []


def test_ids_of_another_tool_are_kept_and_continued(engine: Engine) -> None:
    """Times in milliseconds are in use as ids."""
    large = 1_700_000_000_000
    bundle = read_bundle(json.dumps([{"id": large, "subject": "theirs"}]).encode(), where="x")
    store = engine.open()
    import_bundle(store, bundle, Audit("tester", None))
    graph = TaskGraph(store)
    assert graph.create("mine").id == large + 1
    graph.delete(large + 1)
    assert graph.create("next").id == large + 2
    assert graph.doctor() == []


@pytest.mark.parametrize("number", [MAX_ID, MAX_ID + 1, 10**30])
def test_an_import_that_leaves_no_room_for_new_ids_is_refused(engine: Engine, number: int) -> None:
    graph = engine.graph()
    raw = json.dumps([{"id": number, "subject": "x"}]).encode()
    with pytest.raises(OutliveError):
        import_bundle(graph.store, read_bundle(raw, where="x"), Audit("tester", None))
    assert graph.find() == []
    assert graph.create("mine").id >= 1


@pytest.mark.parametrize("mark", [MAX_ID, -1, 10**30, "12", None, 1.5])
def test_the_mark_of_an_import_is_checked(engine: Engine, mark: object) -> None:
    head = json.dumps({"outlive": "tasks", "version": 1, "highWater": mark})
    raw = f'{head}\n{{"task": {{"id": 1, "subject": "x"}}}}\n'.encode()
    with pytest.raises(DamagedRecord, match="highWater"):
        read_bundle(raw, where="x")


@given(st.lists(st.integers(1, MAX_ID)), st.integers(0, MAX_ID // 2))
def test_new_ids_continue_from_the_last_one_without_a_gap(ids: list[int], start: int) -> None:
    last = highest_id(ids, start)
    assert last == start or last in ids
    above = [number for number in ids if number > last]
    assert not above or min(above) - last > MAX_ID_GAP


def test_every_id_that_a_name_can_hold_is_within_the_bound() -> None:
    assert task_number(f"task_{MAX_ID}.json") == MAX_ID
    assert task_number(f"task_{MAX_ID + 1}.json") is None
    assert float(MAX_ID) == MAX_ID, "exact as a JSON number"


# -- dependencies ------------------------------------------------------------------------------------------

MANY = tuple(range(2, MAX_DEPENDENCIES + 3))


@pytest.mark.parametrize("key", ["dependsOn", "blockedBy"])
def test_a_file_with_too_many_dependencies_is_damage(files: Engine, key: str) -> None:
    graph = files.graph()
    graph.create("one")
    (files.path / "task_2.json").write_text(json.dumps({"id": 2, "subject": "x", key: list(range(3, 1_000_003))}))
    assert [task.id for task in graph.find()] == [1]
    (problem,) = graph.doctor()
    assert "1,000,000 dependencies, a task has at most 10,000" in problem.what
    files.open().repair()
    assert graph.doctor() == []
    assert (files.path / "damaged/task_2.json").exists()


def test_too_many_dependencies_are_refused_before_any_is_looked_up(engine: Engine) -> None:
    graph = engine.graph()
    made = graph.create("one").id
    for act in (
        lambda: graph.create("x", blocked_by=MANY),
        lambda: graph.create("x", blocks=MANY),
        lambda: graph.create_many([TaskDraft(subject="x", blocked_by=MANY)]),
        lambda: graph.update(made, add_blocked_by=MANY),
        lambda: graph.update(made, add_blocks=MANY),
        lambda: graph.update(made, remove_blocked_by=MANY),
    ):
        with pytest.raises(InvalidTask, match="at most 10,000"):
            act()
    assert [task.id for task in graph.find()] == [made]


def test_dependencies_do_not_add_up_beyond_the_bound(sqlite: Engine) -> None:
    graph = sqlite.graph()
    made = [task.id for task in graph.create_many([TaskDraft(subject="x")] * (MAX_DEPENDENCIES + 1))]
    last = graph.create("last", blocked_by=made[1:]).id
    with pytest.raises(InvalidTask, match="at most 10,000"):
        graph.update(last, add_blocked_by=made[:1])
    assert len(graph.get(last).depends_on) == MAX_DEPENDENCIES


def test_an_error_names_a_few_of_many_ids(graph: TaskGraph) -> None:
    with pytest.raises(UnknownTask) as caught:
        graph.create("x", blocked_by=MANY[:5000])
    assert len(str(caught.value)) < 500
    assert "more" in str(caught.value)


class Counting:
    """A graph of edges that counts how many it is asked for."""

    def __init__(self, edges: dict[int, tuple[int, ...]]) -> None:
        self.edges = edges
        self.visited = 0

    def depends_on(self, ids: Collection[int]) -> dict[int, tuple[int, ...]]:
        found = {number: self.edges[number] for number in ids if number in self.edges}
        self.visited += sum(map(len, found.values())) + len(found)
        return found


def test_edges_are_visited_once_however_many_are_added() -> None:
    """A task that comes to depend on all of a long chain."""
    size = 2000
    edges: dict[int, tuple[int, ...]] = {number: (number - 1,) for number in range(2, size + 1)}
    edges[size + 1] = tuple(range(1, size + 1))
    tx: Any = Counting(edges)
    refuse_cycles(tx, [(size + 1, number) for number in range(1, size + 1)])
    assert tx.visited <= 3 * size


def test_a_cycle_is_found_among_many_new_edges_at_the_same_cost() -> None:
    size = 2000
    edges: dict[int, tuple[int, ...]] = {number: (number - 1,) for number in range(2, size + 1)}
    edges[1] = tuple(range(2, size + 1))
    tx: Any = Counting(edges)
    with pytest.raises(CycleError, match="task 1 cannot depend on 2: that closes the cycle 1 -> 2 -> 1"):
        refuse_cycles(tx, [(1, number) for number in range(2, size + 1)])
    assert tx.visited <= 6 * size


def test_a_long_cycle_is_named_in_part(engine: Engine) -> None:
    graph = engine.graph()
    drafts = [
        TaskDraft(key=f"k{at}", subject=f"t{at}", blocked_by=(f"k{at - 1}",) if at else ()) for at in range(300)
    ]
    made = [task.id for task in graph.create_many(drafts)]
    with pytest.raises(CycleError) as caught:
        graph.update(made[0], add_blocked_by=[made[-1]])
    assert len(caught.value.cycle) == 301
    assert "(261 more)" in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_cycle_that_was_there_before_does_not_stand_in_the_way(files: Engine) -> None:
    graph = files.graph()
    for subject in ("one", "two", "three"):
        graph.create(subject)
    for number, other in ((1, 2), (2, 1)):
        form = json.loads((files.path / f"task_{number}.json").read_text()) | {"dependsOn": [other]}
        (files.path / f"task_{number}.json").write_text(json.dumps(form))
    assert files.graph().update(3, add_blocked_by=[1]).depends_on == (1,)


@given(st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4), max_size=13))
def test_two_nodes_are_in_one_component_if_each_reaches_the_other(edges: dict[int, list[int]]) -> None:
    component = shape.components(edges)
    nodes = {*edges, *(other for nexts in edges.values() for other in nexts)}
    assert component.keys() == nodes
    reached = {node: set(shape.reachable(node, edges)) for node in nodes}
    for one in nodes:
        for other in nodes:
            mutual = other in reached[one] and one in reached[other]
            assert (component[one] == component[other]) == mutual


def test_a_chain_of_ten_thousand_is_no_matter_of_depth(sqlite: Engine) -> None:
    graph = sqlite.graph()
    size = 10_000
    drafts = [TaskDraft(key=f"k{at}", subject="t", blocked_by=(f"k{at - 1}",) if at else ()) for at in range(size)]
    made = graph.create_many(drafts)
    assert len(graph.critical_path()) == size
    assert graph.doctor() == []
    with pytest.raises(CycleError):
        graph.update(made[0].id, add_blocked_by=[made[-1].id])
    assert sum(1 for _ in export_lines(graph.store)) == 2 * size + 1
