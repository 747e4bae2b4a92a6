import re
from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given

from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.marks import STATES, state
from outlive.tasks.drawing.svg import svg
from outlive.tasks.drawing.text import pixels
from tests.tasks.drawing.plans import RELEASE, edges_of, graphs, plan, tasks_of

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


def read(tasks: list[Task]) -> ElementTree.Element:
    return ElementTree.fromstring(svg(tasks))


def boxes(root: ElementTree.Element) -> dict[int, Box]:
    """Left, top, right and bottom of each task's box."""
    result = {}
    for group in root.iter(f"{SVG}g"):
        box = group.find(f"{SVG}rect[@class='box']")
        if box is None:
            continue
        left, top = map(float, re.findall(r"-?[\d.]+", group.attrib["transform"]))
        number = group.findtext(f"{SVG}text/{SVG}tspan[@class='id']")
        result[int(number or 0)] = (left, top, left + float(box.attrib["width"]), top + float(box.attrib["height"]))
    return result


def edges(root: ElementTree.Element) -> dict[tuple[int, int], tuple[float, ...]]:
    """Each edge with its first and its last point."""
    result = {}
    for path in root.iter(f"{SVG}path"):
        if path.attrib.get("class", "").startswith("edge"):
            before, after = map(int, (path.findtext(f"{SVG}title") or "").split(" → "))
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.attrib["d"])]
            result[before, after] = (*numbers[:2], *numbers[-2:])
    return result


def on_edge_of(box: Box, x: float, y: float) -> bool:
    left, top, right, bottom = box
    inside = left - 0.2 <= x <= right + 0.2 and top - 0.2 <= y <= bottom + 0.2
    return inside and (min(abs(x - left), abs(x - right)) <= 0.2 or min(abs(y - top), abs(y - bottom)) <= 0.2)


def test_arrows_lead_from_a_dependency_to_the_task_that_waits_for_it() -> None:
    root = read(RELEASE)
    drawn, placed = edges(root), boxes(root)
    assert set(drawn) == edges_of(RELEASE)
    for (before, after), (x, y, to_x, to_y) in drawn.items():
        assert on_edge_of(placed[before], x, y)
        assert on_edge_of(placed[after], to_x, to_y)
    assert all("marker-end" in path.attrib for path in root.iter(f"{SVG}path") if "edge" in path.get("class", ""))


def test_a_dependency_stands_before_what_waits_for_it() -> None:
    placed = boxes(read(RELEASE))
    assert placed[1][2] < placed[2][0]
    assert placed[2][0] == placed[3][0]


def test_a_long_chain_runs_downwards() -> None:
    chain = tasks_of([(number, "t", "pending", (number - 1,) if number > 1 else ()) for number in range(1, 31)])
    placed = boxes(read(chain))
    assert {box[0] for box in placed.values()} == {0.0}
    assert placed[1][3] < placed[2][1]


def test_the_subject_is_wrapped_and_cut_but_whole_in_the_tooltip() -> None:
    subject = "a subject of many words that cannot possibly be shown in two lines of a small box"
    root = read(plan(f"7 {subject}"))
    spans = [span.text or "" for span in root.iter(f"{SVG}tspan")]
    assert len(spans) == 3
    assert spans[-1].endswith("…")
    assert f"○ 7 {subject}\nready" in [title.text for title in root.iter(f"{SVG}title")]


def test_wide_characters_are_cut_to_the_box() -> None:
    lines = [span.text or "" for span in read(plan("7 " + "漢字" * 40)).iter(f"{SVG}tspan")][1:]
    assert all(pixels(line) * 12.5 < 216 - 34 for line in lines)
    assert 8 < len(lines[-1]) < 16


def test_markup_in_a_subject_is_text() -> None:
    root = read(plan('1 <b>&amp;</b> "x"'))
    assert [span.text for span in root.iter(f"{SVG}tspan")] == ["1", '<b>&amp;</b> "x"']


def test_the_legend_counts_the_states_that_occur() -> None:
    texts = {text.text for text in read(RELEASE).iter(f"{SVG}text")}
    assert texts >= {"1 ready", "2 blocked", "1 in progress", "1 completed"}
    assert "0 cancelled" not in texts


def test_there_is_a_light_and_a_dark_theme_for_every_state() -> None:
    light, dark = svg(RELEASE).split("@media (prefers-color-scheme:dark)")
    for name in STATES:
        assert f".{name} rect.box" in light
        assert f".{name} rect.box" in dark.split("</style>")[0]


def test_nothing_is_fetched_from_elsewhere() -> None:
    text = svg(RELEASE).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.findall(r"https?:|<script|<image|@import|@font-face", text)


def test_an_edge_that_closes_a_cycle_stands_out() -> None:
    assert 'class="edge closing"' in svg(plan("1 hen < 2", "2 egg < 1"))


def test_an_open_dependency_that_is_not_shown_is_named_in_the_tooltip() -> None:
    assert "waits for 3 (not shown)" in svg(plan("7 b < 3"))


def test_no_tasks_say_so() -> None:
    assert [text.text for text in read([]).iter(f"{SVG}text")] == ["no tasks"]


def test_thousands_of_tasks_are_drawn_compactly() -> None:
    tasks = tasks_of(
        [(number, "t", "pending", (number // 2, number // 3) if number > 5 else ()) for number in range(1, 3001)]
    )
    root = read(tasks)
    placed = boxes(root)
    assert len(placed) == 3000
    assert len(set(placed.values())) == 3000
    assert set(edges(root)) == edges_of(tasks)
    assert float(root.attrib["width"]) < 20_000
    assert float(root.attrib["height"]) < 20_000


def test_too_many_edges_are_left_out_and_that_is_said() -> None:
    tasks = tasks_of([(number, "t", "pending", tuple(range(1, number))) for number in range(1, 200)])
    root = read(tasks)
    assert len(boxes(root)) == 199
    assert not edges(root)
    assert "19701 edges are not drawn" in [text.text for text in root.iter(f"{SVG}text")]


@given(graphs(size=25))
def test_in_any_graph_boxes_keep_apart_and_inside_and_edges_join_them(tasks: list[Task]) -> None:
    root = read(tasks)
    placed, drawn = boxes(root), edges(root)
    assert set(placed) == {task.id for task in tasks}
    assert set(drawn) == edges_of(tasks)
    for one, two in combinations(placed.values(), 2):
        assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
    for left, top, right, bottom in placed.values():
        assert min(left, top) >= -0.1
        assert right <= float(root.attrib["width"])
        assert bottom <= float(root.attrib["height"])
    for (before, after), (x, y, to_x, to_y) in drawn.items():
        assert on_edge_of(placed[before], x, y)
        assert on_edge_of(placed[after], to_x, to_y)


@given(graphs())
def test_each_box_has_the_class_of_its_state(tasks: list[Task]) -> None:
    classes = [
        group.attrib["class"]
        for group in read(tasks).iter(f"{SVG}g")
        if group.attrib.get("class") and "transform" in group.attrib
    ]
    shown = [name for name in classes if name in STATES] if tasks else []
    assert shown == [state(task) for task in sorted(tasks, key=lambda task: task.id)]
