"""A session of a client that lets outlive make its requests: takes its messages, returns those to send.

Messages that are not folded are returned unchanged, by their index in the client's list.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec import Struct, field

from outlive.clients.mirror import see_tasks
from outlive.context.brief import brief
from outlive.context.errors import FloorError, InvalidRequest
from outlive.context.layout import layout
from outlive.context.log.pieces import call_text
from outlive.context.policy import RICH, Policy
from outlive.context.tokens import estimate
from outlive.events import AssistantSaid, Checkpointed, UsageReported
from outlive.messages import Block, Message, Text, Thinking, ToolCall, ToolResult
from outlive.origin import user_words
from outlive.replay.follow import Followed
from outlive.replay.recording import timed
from outlive.replay.shapes import shape_of
from outlive.replay.shapes.protocol import ClientShape, Form
from outlive.stores.logs.protocol import LogStore
from outlive.stores.tasks.protocol import TaskStore

GUESSED_RESERVE = 8_000
"""Tokens of a client's system prompt and tools, before a provider has counted them."""
REMEMBERED = "remembered"
"""A checkpoint: the memories that are shown after a unit."""


class _Read(Struct):
    """A client's list as messages of ours, and which of its messages each unit consists of."""

    messages: list[tuple[Message, float | None]] = field(default_factory=list)
    units: list[list[int]] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    """Messages before the first unit, in which a model reads nothing."""
    answer: int = -1
    """The newest answer."""


class ClientView:
    """The log of one session of a client, and the view that its requests show. Close it when it is not used."""

    def __init__(
        self,
        store: LogStore,
        client: str,
        session: str,
        *,
        folder: str,
        mask: Callable[[str], str],
        window: int,
        reserve: int,
        caches_front: bool = True,
        policy: Policy = RICH,
        tasks: TaskStore | None = None,
        memories: Callable[[str, str], str] | None = None,
    ) -> None:
        """`reserve`: tokens of the client's system prompt and tools. `memories` returns those that fit the user's
        words, without those in a text that the model still sees. Raises SessionBusy."""
        self.window, self.reserve, self.caches_front = window, reserve, caches_front
        self._client, self._session, self._tasks, self._memories = client, session, tasks, memories
        self._shape: ClientShape = shape_of(client)
        self._sent = -1
        """How many messages the client had when it was last given a view."""
        self.log = Followed(
            store, client, session, folder=folder, mask=mask, window=window, reserve=reserve, policy=policy
        )
        self.log.session.engine.caches_front = caches_front

    def fits(self, window: int, reserve: int, *, caches_front: bool) -> bool:
        """Whether the view was opened for this window, this reserve and this kind of cache."""
        return (self.window, self.reserve, self.caches_front) == (window, reserve, caches_front)

    @property
    def segments(self) -> int:
        """The number of texts at the start of the first message that later passes leave unchanged."""
        return len(self.log.session.engine.cached_front)

    def view(self, messages: Sequence[Form], *, parent: bool = False) -> list[int | Form]:
        """What to send: places in the client's list, and new messages in its shape."""
        read = self._take(messages, parent=parent)
        self._remember(read)
        with suppress(FloorError):  # its passes are in force, and what is left is less than what the client has
            self.log.session.next_request()
        self._sent = len(messages)
        return self._answer(messages, read)

    def compact(
        self,
        messages: Sequence[Form],
        limit: int,
        *,
        focus: str = "",
        too_long: bool = False,
        automatic: bool = False,
        parent: bool = False,
    ) -> str:
        """Make a pass now; what the session must not lose, for the client's own record, in `limit` characters.

        Where the client compacts by itself (`automatic`), the next view makes the pass that is due.
        """
        self._take(messages, parent=parent)
        with suppress(FloorError):
            if too_long:
                self.log.session.too_long()
            elif not automatic:
                self.log.session.compact(focus)
        return brief(self.log.session.engine.history, limit, recall="the recall tool")

    def close(self) -> None:
        self.log.close()

    def _take(self, messages: Sequence[Form], *, parent: bool) -> _Read:
        """Bring the log in step with the client."""
        read = self._read(messages, parent=parent)
        self.log.take(list(timed(read.messages)))
        if len(read.units) != len(self.log.session.engine.history.units):
            raise InvalidRequest(
                f"session {self.log.session.id!r}: the client has {len(read.units)} units and the log "
                f"{len(self.log.session.engine.history.units)}"
            )
        self._report(messages, read.answer)
        if self._tasks is not None:
            see_tasks(self.log.session, self._tasks, self._client, self._session)
        return read

    def _read(self, messages: Sequence[Form], *, parent: bool) -> _Read:
        read = _Read()
        for place, message in enumerate(messages):
            found = self._shape.read(message, parent=parent)
            if found is None:
                continue
            for one in found:
                read.messages.append((one, self._shape.time(message)))
                if one.role == "assistant":
                    read.answer = place
            if any(one.role == "assistant" or not _only_results(one) for one in found):
                read.units.append([place])
            else:
                (read.units[-1] if read.units else read.before).append(place)
        return read

    def _report(self, messages: Sequence[Form], answer: int) -> None:
        """Log what the provider counted, if the newest answer is one to the view that was given last."""
        session = self.log.session
        tokens = self._shape.prompt_tokens(messages[answer]) if answer >= 0 else 0
        if not tokens or answer != self._sent:
            return
        self._sent = -1
        said = next(event.id for event in reversed(session.events) if isinstance(event, AssistantSaid))
        session.log(UsageReported, of=said, input=tokens)

    def _remember(self, read: _Read) -> None:
        """Log the memories that fit what the user has just said, so that they stay where they are in later views."""
        if self._memories is None or not read.messages:
            return
        words, newest = user_words(read.messages[-1][0].blocks).strip(), len(read.units) - 1
        shown = self._shown_memories()
        if not words or newest in shown:
            return
        folded = self.log.session.engine.folded
        in_view = "\n".join(text for unit, text in shown.items() if unit >= folded)
        if text := self._memories(words, in_view):
            self.log.session.log(Checkpointed, label=REMEMBERED, data={"unit": newest, "text": text})

    def _shown_memories(self) -> dict[int, str]:
        """The memories that are shown after each unit."""
        marks = (e for e in self.log.session.events if isinstance(e, Checkpointed) and e.label == REMEMBERED)
        return {int(mark.data["unit"]): str(mark.data["text"]) for mark in marks}

    def _answer(self, messages: Sequence[Form], read: _Read) -> list[int | Form]:
        engine = self.log.session.engine
        answer: list[int | Form] = [] if engine.folded else list(read.before)
        like = messages[0] if messages else {}
        memories = self._shown_memories()
        for part in layout(engine):
            if isinstance(part, Message):
                answer.append(self._shape.words(part.blocks, like))
                continue
            for place in read.units[part.number]:
                texts = part.texts if place == read.units[part.number][0] else {}
                shown = self._shape.changed(messages[place], texts, part.results, thinking=part.thinking)
                answer.append(place if shown is messages[place] else shown)
            if text := memories.get(part.number):
                answer.append(self._shape.words((Text(text, "memory"),), like))
        return answer


def measured_reserve(client: str, messages: Sequence[Form], window: int) -> int:
    """Tokens of the client's system prompt and tools: what the provider counted for the first request, less its
    messages. A guess until there was an answer."""
    shape, before = shape_of(client), 0.0
    for message in messages:
        if counted := shape.prompt_tokens(message):
            return round(min(max(counted - before, 0), window / 2))
        for one in shape.read(message, parent=False) or ():
            before += sum(estimate(_text(block)) for block in one.blocks)
    return min(GUESSED_RESERVE, window // 4)


def _text(block: Block) -> str:
    if isinstance(block, ToolCall):
        return call_text(block)
    return block.text if isinstance(block, Text | Thinking | ToolResult) else ""


def _only_results(message: Message) -> bool:
    return all(isinstance(block, ToolResult) for block in message.blocks)
