"""A made-up project for the agent to work in: files of 5 to 30 KB as code is, and 200 memories."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.memory.speed import memories as made_up
from outlive.config import Workspace
from outlive.memory.memories import Memories
from outlive.messages import ToolCall
from outlive.stores.memories.protocol import MemoryWriter
from outlive.stores.memories.records import Memory

FILES = 48
MEMORIES = 200
PROMPTS = (
    "Go through the modules and find where the parser drops a token.",
    "Now look at how the tests of the scheduler are set up.",
    "Check which of them read the key of the configuration.",
)


@contextmanager
def workspace(*, durability: str = "full", memories: int = MEMORIES) -> Iterator[Workspace]:
    """The folder, and a home of its own for the user."""
    with TemporaryDirectory() as name:
        root, before = Path(name) / "work", os.environ.get("OUTLIVE_HOME")
        os.environ["OUTLIVE_HOME"] = str(Path(name) / "home")
        (root / "src").mkdir(parents=True)
        (root / "outlive.toml").write_text(f'[store]\ndurability = "{durability}"\n')
        for number in range(FILES):
            (root / path_of(number)).write_text(_module(number))
        remember(root, memories)
        try:
            yield Workspace.find(root)
        finally:
            os.environ.pop("OUTLIVE_HOME")
            if before is not None:
                os.environ["OUTLIVE_HOME"] = before


def remember(root: Path, count: int) -> None:
    """Put memories there, all in one step."""
    memories = Memories.open("files:.tasks", base=root, durability="process")

    def put(writer: MemoryWriter) -> None:
        for number, entry in enumerate(made_up(count)):
            writer.put(
                Memory(
                    slug=f"memory-{number}",
                    name=entry.name,
                    description=entry.description,
                    body=entry.body,
                    date=entry.date,
                    type="project",
                    scope="project",
                    created=writer.now,
                    updated=writer.now,
                )
            )
        writer.record("import")

    memories.write("project", put)
    memories.close()


def path_of(number: int) -> str:
    return f"src/module_{number % FILES}.py"


def call_for(turn: int) -> ToolCall:
    """Read a file, or run a command that prints one or searches all."""
    id, number = f"call_{turn}", turn // 2
    if turn % 2:
        return ToolCall(id, "read_file", {"path": path_of(number)})
    if turn % 10 == 0:
        return ToolCall(id, "bash", {"command": f"grep -n 'value_{number % 90}' src/*.py | head -120; echo {turn}"})
    return ToolCall(id, "bash", {"command": f"cat {path_of(number + 7)}; echo turn {turn}"})


def _module(number: int) -> str:
    """Text that looks like code, with the words in it that a search for secrets has to look at twice."""
    chance = random.Random(number)
    rows = [f'"""Module {number}: the key of each token and how it is parsed."""', ""]
    size = chance.randint(5_000, 30_000)
    while sum(map(len, rows)) < size:
        name = f"value_{chance.randrange(90)}"
        rows += [
            f"def {name}(token: str, *, key: str = '{name}', limit: int = {chance.randrange(500)}) -> list[str]:",
            f'    """Return what {name} finds in the token, see https://docs.example.org/{name}."""',
            f"    found = [part.strip() for part in token.split(key) if len(part) > {chance.randrange(9)}]",
            f"    return sorted(found)[: limit - {chance.randrange(50)}]",
            "",
        ]
    return "\n".join(rows) + "\n"
