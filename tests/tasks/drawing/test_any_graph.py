"""What holds for every picture, whatever the tasks."""

import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given

from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.dot import dot
from outlive.tasks.drawing.mermaid import mermaid
from outlive.tasks.drawing.svg import svg
from outlive.tasks.drawing.terminal import layers, tree
from tests.tasks.drawing.plans import graphs, unstyled

PICTURES: dict[str, Callable[[list[Task]], str]] = {
    "tree": lambda tasks: tree(tasks, style=unstyled),
    "layers": lambda tasks: layers(tasks, width=100, style=unstyled),
    "list": lambda tasks: layers(tasks, width=24, style=unstyled),
    "mermaid": mermaid,
    "dot": dot,
    "svg": svg,
}

pictures = pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES.keys())


@pictures
@given(tasks=graphs())
def test_every_id_is_in_the_picture(picture: Callable[[list[Task]], str], tasks: list[Task]) -> None:
    assert {str(task.id) for task in tasks} <= set(re.findall(r"\d+", picture(tasks)))


@pictures
@given(tasks=graphs())
def test_the_order_of_the_tasks_does_not_matter(picture: Callable[[list[Task]], str], tasks: list[Task]) -> None:
    shuffled = random.Random(len(tasks)).sample(tasks, len(tasks))
    assert picture(tasks) == picture(shuffled)


@pictures
@given(tasks=graphs())
def test_the_picture_is_valid_text_without_control_characters(
    picture: Callable[[list[Task]], str], tasks: list[Task]
) -> None:
    text = picture(tasks)
    text.encode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
