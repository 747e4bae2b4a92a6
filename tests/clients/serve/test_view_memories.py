"""Memories that fit the user's words are in the views of pi and opencode, where they were first shown."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from outlive.clients.serve.server import ClientServer
from outlive.config import Workspace
from outlive.memory.memories import Memories
from tests.clients.serve.message_lists import LISTS, RULES, MessageList, texts_of

FACT = "The freight papers are kept in the blue cabinet of the north hall."
ASKED = "Where are the freight papers kept?"
Form = dict[str, Any]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home"))
    (tmp_path / "work" / ".transcripts").mkdir(parents=True)
    return Workspace.find(tmp_path / "work")


@pytest.fixture
def remembered(workspace: Workspace) -> Iterator[Memories]:
    memories = Memories.open(**workspace.store)
    memories.add("freight papers", FACT)
    yield memories
    memories.close()


@pytest.fixture(params=LISTS)
def client(request: pytest.FixtureRequest) -> MessageList:
    made: MessageList = LISTS[request.param]()
    made.user(ASKED)
    return made


def sent(workspace: Workspace, client: MessageList, server: ClientServer | None = None, **more: Any) -> list[Form]:
    """The messages of a request, as the client sends them."""
    asked = server or ClientServer(workspace)
    answer = asked.answer(msgspec.json.encode(client.request(**more)))
    if server is None:
        asked.close()
    assert "error" not in answer, answer
    places = answer["view"] if answer["view"] is not None else range(len(client.messages))
    return [client.messages[one] if isinstance(one, int) else one for one in places]


def told(messages: list[Form]) -> str:
    return "\n".join(map(texts_of, messages))


@pytest.mark.usefixtures("remembered")
def test_a_memory_comes_after_the_words_that_it_fits_and_stays_there(
    workspace: Workspace, client: MessageList
) -> None:
    first = sent(workspace, client)
    assert ASKED in texts_of(first[0])
    assert FACT in texts_of(first[1])
    assert len(first) == 2
    client.work(2)
    second = sent(workspace, client)  # by another server, from the log
    assert second[:2] == first
    client.user("Go on.")
    client.work(1, first=3)
    client.user(ASKED)
    third = sent(workspace, client)
    assert third[: len(second)] == second
    assert told(third).count(FACT) == 1, "what is in view is not shown again"


@pytest.mark.usefixtures("remembered")
def test_a_memory_that_left_the_view_comes_again_when_it_fits(workspace: Workspace, client: MessageList) -> None:
    server = ClientServer(workspace)
    sent(workspace, client, server)
    for number in range(1, 41):
        client.work(1, first=number)
        sent(workspace, client, server)
    assert FACT not in told(sent(workspace, client, server))
    client.user(f"{ASKED} {RULES}")
    assert told(sent(workspace, client, server)).count(FACT) == 1


@pytest.mark.usefixtures("remembered")
def test_words_of_another_agent_and_words_that_fit_nothing_bring_none(
    workspace: Workspace, client: MessageList
) -> None:
    assert FACT not in told(sent(workspace, client, parent=True))
    other = type(client)("s-2")
    other.user("Paint the fence green.")
    assert FACT not in told(sent(workspace, other))


def test_memories_that_came_with_the_folder_are_not_shown(workspace: Workspace, client: MessageList) -> None:
    folder = workspace.root / ".memory"
    folder.mkdir()
    (folder / "papers.md").write_text(f"---\nname: papers\ndescription: {FACT}\ntype: project\n---\n{FACT}\n")
    assert FACT not in told(sent(workspace, client))
