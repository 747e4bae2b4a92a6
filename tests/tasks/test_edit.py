"""The fields that `TaskGraph.update` takes."""

import pytest

from outlive.tasks.graph import TaskGraph


def test_an_unknown_field_is_refused_like_any_unknown_keyword(graph: TaskGraph) -> None:
    made = graph.create("paint")
    with pytest.raises(TypeError, match="colour"):
        graph.update(made.id, colour="red")  # type: ignore[call-arg]
    assert graph.get(made.id) == made


def test_lists_may_be_given_as_generators(graph: TaskGraph) -> None:
    first, second = graph.create("first").id, graph.create("second").id
    task = graph.update(
        second,
        add_blocked_by=(number for number in [first]),
        labels=(label for label in ["b", "a"]),
        add_labels=(label for label in ["c"]),
    )
    assert task.depends_on == (first,)
    assert task.labels == ("a", "b", "c")
