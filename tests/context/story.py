"""Sessions made up for tests: a small builder for events, and hypothesis strategies for whole logs."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
from hypothesis import strategies as st

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.messages import Block, Image, Origin, Text, Thinking, ToolCall

TEXT = "{word} value_{n} src/mod_{n}.py:{n} calls helper_{n}() in 漢字 line {n} éß🎈"

PICTURE = Image("image/png", "aGVsbG8=")


@dataclass
class Story:
    """Builds a log event by event."""

    events: list[ev.Event] = field(default_factory=list)
    clock: float = 1000.0

    def add(self, make: type[ev.Base], **fields: object) -> ev.Event:
        number = len(self.events) + 1
        event = make(id=number, time=self.clock, parent=number - 1, **fields)
        self.events.append(event)  # type: ignore[arg-type]
        self.clock += 5
        return self.events[-1]

    def user(self, text: str, origin: Origin = "user") -> ev.Event:
        return self.add(ev.UserSaid, blocks=(Text(text, origin),))

    def says(self, text: str) -> ev.Event:
        return self.add(ev.AssistantSaid, blocks=(Text(text),))

    def step(
        self, *results: str, tool: str = "read", said: str = "", thought: str = "", picture: bool = False
    ) -> None:
        """An answer with one call for each result, and the results, the last of them with a picture if wanted."""
        base = len(self.events)
        blocks: list[Block] = [Thinking(thought, "signed")] if thought else []
        blocks += [Text(said)] if said else []
        blocks += [ToolCall(f"c{base}_{n}", tool, {"path": f"src/f{base}_{n}.py"}) for n in range(len(results))]
        self.add(ev.AssistantSaid, blocks=tuple(blocks))
        for number, text in enumerate(results):
            images = (PICTURE,) if picture and number == len(results) - 1 else ()
            self.add(ev.ToolFinished, call_id=f"c{base}_{number}", text=text, images=images)


def body(seed: int, lines: int) -> str:
    """A result with names that differ by seed. Its lines differ in more than numbers, as those of code do."""
    return "\n".join(TEXT.format(n=seed * 1000 + number, word=_word(number)) for number in range(lines))


def _word(number: int) -> str:
    """A word of five letters, another one for each number, without those of hexadecimal digits."""
    return "".join("ghijklmnop"[int(digit)] for digit in f"{number:05}")


def long_story(steps: int, lines: int = 60) -> Story:
    """One request and many steps."""
    story = Story()
    story.add(ev.SessionStarted, session="s", system="You are careful.", tools=({"name": "read"},))
    story.user("Please fix the parser. Never touch vendor/ files.")
    for number in range(steps):
        story.step(body(number, lines), said=f"Looking at part_{number}.")
    return story


_words = st.text(alphabet="ab_/.9X 漢é🎈\n", min_size=0, max_size=40)


@st.composite
def logs(draw: st.DrawFn) -> list[ev.Event]:
    """Any log a session could write, interrupted calls and stray results included."""
    story = Story()
    story.add(ev.SessionStarted, session="s", system="sys " * draw(st.integers(0, 50)))
    for number in range(draw(st.integers(1, 12))):
        kind = draw(
            st.sampled_from(["user", "step", "step", "step", "says", "lost", "stray", "gap", "directive", "big"])
        )
        if kind == "user":
            story.user(draw(_words) + f" do thing_{number}")
        elif kind == "step":
            texts = [body(number * 7 + n, draw(st.integers(0, 40))) for n in range(draw(st.integers(1, 3)))]
            story.step(*texts, said=draw(_words), thought=draw(st.sampled_from(["", "hmm"])))
        elif kind == "big":
            story.step("x" * draw(st.integers(0, 6000)) + draw(_words), tool="Bash")
        elif kind == "says":
            story.says(draw(_words))
        elif kind == "lost":
            story.add(ev.AssistantSaid, blocks=(ToolCall(f"lost{number}", "Bash", {"command": "sleep 1"}),))
        elif kind == "stray":
            story.add(ev.ToolFinished, call_id="nobody", text="?")
        elif kind == "directive":
            story.add(ev.DirectiveGiven, text=f"Always keep rule_{number}.", source=2)
        else:
            story.clock += 1000
    return story.events


def texts(events: list[ev.Event]) -> Iterator[tuple[int, str]]:
    """Everything that was said or returned, by event."""
    for event in events:
        if isinstance(event, ev.ToolFinished):
            yield event.id, event.text
        elif isinstance(event, (ev.UserSaid, ev.AssistantSaid)):
            for block in event.blocks:
                if isinstance(block, Text):
                    yield event.id, block.text


def drive(engine: Engine, story: Story) -> list[ev.Compacted]:
    """Play a story turn by turn; its passes."""
    made: list[ev.Compacted] = []
    for event in story.events:
        if isinstance(event, ev.AssistantSaid):
            made.extend(engine.next_request().passes)
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
    return made
