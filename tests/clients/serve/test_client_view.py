"""A client's whole list in, the list to send out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive.clients.serve.client_view import ClientView, measured_reserve
from outlive.context.layout import ShownUnit, layout
from outlive.context.projection import passes_of
from outlive.context.rendering import join, unit_messages
from outlive.context.tokens import estimate
from outlive.messages import Message
from outlive.replay.follow import Followed
from outlive.stores import Stores, open_stores
from outlive.tasks.graph import TaskGraph
from tests.clients.serve.message_lists import LISTS, RULES, SECRET, MessageList, texts_of

WINDOW = 12_000
Form = dict[str, Any]


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = open_stores("files:.tasks", base=tmp_path)
    yield opened
    opened.logs.close()


@pytest.fixture(params=LISTS)
def client(request: pytest.FixtureRequest) -> MessageList:
    made: MessageList = LISTS[request.param]()
    made.user(f"Look at every bay. {RULES}")
    return made


def opened(stores: Stores, client: MessageList, window: int = WINDOW, *, caches_front: bool = True) -> ClientView:
    reserve = measured_reserve(client.client, [], window)
    more: Form = {"window": window, "reserve": reserve, "tasks": stores.tasks, "caches_front": caches_front}
    return ClientView(stores.logs, client.client, client.session, folder="", mask=str, **more)


def sent(client: MessageList, view: list[int | Form]) -> list[Form]:
    return [client.messages[one] if isinstance(one, int) else one for one in view]


def said(client: MessageList, view: list[int | Form]) -> str:
    return "\n".join(map(texts_of, sent(client, view)))


def test_a_short_session_is_sent_as_it_is(stores: Stores, client: MessageList) -> None:
    client.messages.clear()
    client.user("What is here?")
    client.work(2)
    assert opened(stores, client).view(client.messages) == list(range(len(client.messages)))


def test_sixty_turns_in_a_small_window(stores: Stores, client: MessageList) -> None:
    view, folded = opened(stores, client), 0
    before: list[Form] = []
    for number in range(1, 61):
        client.work(1, first=number)
        if number % 4 == 0:
            TaskGraph(stores.tasks).create(f"Weigh bay {number}")  # so that there are state blocks all over the view
        shown = view.view(client.messages)
        text = said(client, shown)
        assert estimate(text) + view.reserve < WINDOW
        assert RULES.split(". ")[0] in text
        assert "Never open the folder sealed/." in text
        assert SECRET.format(number) in text
        request = sent(client, shown)
        grown = request[: len(before)] == before
        passes = view.log.session.engine.projection.event
        assert grown == (passes == folded), "until a pass a request extends the one before"
        before, folded = request, passes
        assert rendered(view) == list(view.log.session.engine.shown())
    client.work(1, first=61)
    shown = view.view(client.messages)
    assert len(client.messages) - 1 in shown, "what is new goes back as it came"
    assert len([one for one in shown if isinstance(one, int)]) < len(client.messages) / 2


def rendered(view: ClientView) -> list[Message]:
    """The messages of ours that the layout stands for."""
    engine, messages = view.log.session.engine, list[Message]()
    for part in layout(engine):
        if isinstance(part, ShownUnit):
            unit = engine.history.units[part.number]
            join(messages, unit_messages(unit, engine.projection.edits, engine.projection.shown_to))
        else:
            join(messages, [part])
    return messages


def test_what_left_the_view_can_be_recalled_exactly(stores: Stores, client: MessageList) -> None:
    view = opened(stores, client)
    client.work(60, lines=40)
    first = "crate 001-03 weighs 21 kg\ncrate 001-04 weighs 28 kg\n"
    assert first not in said(client, view.view(client.messages))
    assert any(first in page.text for page in view.log.session.engine.history.pages)


def test_thinking_is_sent_until_a_pass_changes_what_stands_before_it(stores: Stores, client: MessageList) -> None:
    view = opened(stores, client)
    client.work(3)
    assert thoughts(sent(client, view.view(client.messages))) == 3
    client.work(40, first=4)
    shown = view.view(client.messages)
    assert view.log.session.engine.projection.event
    assert thoughts(sent(client, shown)) == 0
    client.work(1, first=44)
    assert thoughts(sent(client, view.view(client.messages))) == 1, "what was thought since then is sent"


def thoughts(messages: list[Form]) -> int:
    parts = (part for message in messages for part in message.get("content") or message.get("parts") or ())
    return sum(part.get("type") in ("thinking", "reasoning") for part in parts)


def test_a_rewound_session_is_shown_as_if_it_had_gone_there_at_once(stores: Stores, client: MessageList) -> None:
    view = opened(stores, client)
    for number in range(1, 31):
        client.work(1, first=number)
        view.view(client.messages)
    del client.messages[8:]
    client.user("No. Count the crates instead.")
    client.work(2, first=90)
    shown = view.view(client.messages)
    text = said(client, shown)
    assert "Count the crates instead." in text
    assert SECRET.format(91) in text
    assert SECRET.format(29) not in text
    assert any(SECRET.format(29) in page.text for page in view.log.session.engine.history.pages), "still recallable"
    client.session = "another"
    places = [one for one in opened(stores, client).view(client.messages) if isinstance(one, int)]
    assert places == [one for one in shown if isinstance(one, int)]


def test_a_server_that_was_killed_while_it_took_messages_goes_on(
    stores: Stores, client: MessageList, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = opened(stores, client)
    client.work(3)
    expected = said(client, view.view(client.messages))
    client.work(2, first=4)
    with monkeypatch.context() as patched:
        patched.setattr(Followed, "_plan", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            view.view(client.messages)
    view.close()
    again = opened(stores, client)
    assert said(client, again.view(client.messages)).startswith(expected)
    assert len(again.log.session.engine.history.units) == 6


def test_open_tasks_of_the_project_are_in_every_view(stores: Stores, client: MessageList) -> None:
    graph = TaskGraph(stores.tasks)
    task = graph.create("Write the list of owners")
    view = opened(stores, client)
    client.work(40)
    assert "Write the list of owners" in said(client, view.view(client.messages))
    graph.update(task.id, status="completed")
    client.work(1, first=41)
    latest = said(client, view.view(client.messages)).rpartition("<state>")[2]
    assert "Write the list of owners" not in latest


def test_the_reserve_is_what_the_provider_counted_besides_the_messages(client: MessageList) -> None:
    assert measured_reserve(client.client, client.messages, 100_000) == 8_000, "a guess, before there is an answer"
    client.step("ls", "a.py", tokens=5_000)
    assert 4_900 < measured_reserve(client.client, client.messages, 100_000) < 5_000
    assert measured_reserve(client.client, client.messages, 6_000) == 3_000, "never more than half of the window"


def test_what_the_provider_counted_corrects_the_estimate(stores: Stores, client: MessageList) -> None:
    view = opened(stores, client)
    view.view(client.messages)
    client.step("ls", "a.py", tokens=2 * view.reserve)
    view.view(client.messages)
    assert view.log.session.engine.meter.reports == 1
    client.step("ls", "a.py", tokens=2 * view.reserve)
    client.step("ls", "a.py", tokens=2 * view.reserve)
    view.view(client.messages)
    assert view.log.session.engine.meter.reports == 1, "these answer requests that were not ours"


def test_a_client_that_compacts_gets_a_brief(stores: Stores, client: MessageList) -> None:
    view = opened(stores, client)
    client.work(25)
    brief = view.compact(client.messages, 6_000, too_long=True)
    assert len(brief) <= 6_000
    assert RULES.split(". ")[0] in brief
    assert "@h" in brief
    assert view.log.session.engine.projection.event, "a pass was made"


def test_a_client_that_compacts_by_itself_gets_a_brief_and_the_pass_comes_with_the_next_view(
    stores: Stores, client: MessageList
) -> None:
    view = opened(stores, client)
    client.work(60)
    assert RULES.split(". ")[0] in view.compact(client.messages, 6_000, automatic=True)
    assert not view.log.session.engine.projection.event
    view.view(client.messages)
    assert view.log.session.engine.projection.event


@pytest.mark.parametrize("caches_front", [True, False])
def test_a_digest_is_left_as_it_is_only_where_a_cache_can_hold_it(
    stores: Stores, client: MessageList, caches_front: bool
) -> None:
    view = opened(stores, client, caches_front=caches_front)
    most = 0
    for number in range(1, 61):
        client.work(1, first=number)
        shown = sent(client, view.view(client.messages))
        projection = view.log.session.engine.projection
        most = max(most, passes_of(projection.segments))
        assert view.segments == (len(projection.segments) if caches_front else 0)
        assert all(segment.text in texts_of(shown[0]) for segment in projection.segments)
    assert (most > 1) == caches_front
