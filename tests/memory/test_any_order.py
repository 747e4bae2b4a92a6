"""Whatever is done in whatever order: nothing is lost, the index fits, and everything can be undone."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from outlive.memory.consolidate import consolidate
from outlive.memory.doctor import problems
from outlive.memory.errors import MemoryExists, MemoryRefused
from outlive.memory.memories import Memories
from tests.memory.conftest import Ticking

FACTS = st.sampled_from(
    [f"The {thing} is {value} now." for thing in ("port", "host", "team") for value in ("red", "blue")]
)
NAMES = st.sampled_from(["port", "Port", "host!", "team", "名前", "a/b", "a b"])

State = dict[str, tuple[object, ...]]


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.memories = Memories.open(base=self.root, home=self.root / "home", durability="process", clock=Ticking())
        self.history: list[State] = []
        """What there was before each step that can be undone."""

    def teardown(self) -> None:
        while self.history:
            self.memories.undo()
            assert self.state() == self.history.pop()
        assert self.memories.all(superseded=True, archived=True) == []
        self.folder.cleanup()

    def state(self) -> State:
        return {
            m.slug: (m.name, m.description, m.body, m.keys, m.supersedes, m.derived_from, m.archived)
            for m in self.memories.all(superseded=True, archived=True)
        }

    def slugs(self) -> list[str]:
        return [memory.slug for memory in self.memories.all()]

    @rule(name=NAMES, fact=FACTS)
    def add(self, name: str, fact: str) -> None:
        before = self.state()
        try:
            made = self.memories.add(name, fact)
        except MemoryExists:
            assert self.state() == before
            return
        assert made.slug not in before
        self.history.append(before)

    @precondition(lambda self: self.slugs())
    @rule(data=st.data(), fact=FACTS)
    def supersede(self, data: st.DataObject, fact: str) -> None:
        before = self.state()
        try:
            self.memories.supersede(data.draw(st.sampled_from(self.slugs())), fact)
        except MemoryExists:
            assert self.state() == before
            return
        self.history.append(before)

    @precondition(lambda self: self.slugs())
    @rule(data=st.data(), fact=FACTS)
    def update(self, data: st.DataObject, fact: str) -> None:
        before = self.state()
        self.memories.update(data.draw(st.sampled_from(self.slugs())), body=f"{fact} So it is.", note="said better")
        self.history.append(before)

    @precondition(lambda self: self.slugs())
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        before = self.state()
        gone = self.memories.forget(data.draw(st.sampled_from(self.slugs())))
        assert gone
        self.history.append(before)

    @rule()
    def consolidate(self) -> None:
        before = self.state()
        report = consolidate(self.memories)
        assert report.problem == ""
        if report.notes:
            self.history.append(before)
        assert self.state().keys() == before.keys()

    @precondition(lambda self: self.history)
    @rule()
    def undo(self) -> None:
        self.memories.undo()
        assert self.state() == self.history.pop()

    @precondition(lambda self: not self.history)
    @rule()
    def undo_nothing(self) -> None:
        try:
            self.memories.undo()
        except MemoryRefused:
            return
        raise AssertionError("there was nothing to undo")

    @invariant()
    def all_is_well(self) -> None:
        assert [problem for problem in problems(self.memories) if not problem.harmless] == []
        index = self.root / ".memory" / "MEMORY.md"
        lines = index.read_text().splitlines() if index.exists() else []
        assert len(lines) == len(self.memories.all())
        for path in (self.root / ".memory").glob("*.md"):
            assert path.name == "MEMORY.md" or self.memories.get(path.stem).archived is None


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=25, stateful_step_count=15)
