"""Two processes' worth of books over one folder, and a person with an editor: whatever is done in whatever order,
both see what a fresh look at everything sees, and MEMORY.md is what would be written from nothing."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from outlive.memory.consolidate import consolidate
from outlive.memory.errors import MemoryRefused
from outlive.memory.index import index_text
from outlive.memory.memories import Memories
from outlive.memory.search import Finder
from outlive.stores.memories.records import Memory, unmarked
from tests.memory.conftest import Ticking

FACTS = st.sampled_from([f"The {thing} is {value} now." for thing in ("port", "host") for value in ("red", "blue")])
NAMES = st.sampled_from(["port", "Port", "host!", "team", "名前"])
WHO = st.sampled_from([0, 1])
NOTE = "---\nname: {name}\n{more}---\n{fact}\n"


class TwoAtOnce(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.temporary = tempfile.TemporaryDirectory()
        self.root = Path(self.temporary.name)
        self.folder = self.root / ".memory"
        self.clock = Ticking()
        self.books = [self.opened(), self.opened()]
        self.finders = [Finder(book, dense=False, cache=self.root / f"cache{n}") for n, book in enumerate(self.books)]
        self.unseen = {0: False, 1: False}
        """Whether something was done by hand since a book had a look at everything."""

    def teardown(self) -> None:
        for book in self.books:
            book.close()
        self.temporary.cleanup()

    def opened(self) -> Memories:
        return Memories.open(
            base=self.root, home=self.root / "home", durability="process", clock=self.clock, heal=False
        )

    def everything(self) -> list[Memory]:
        """As a process sees it that has just begun."""
        return self.opened().all(superseded=True, archived=True)

    def act(self, who: int, change: Callable[[Memories], object]) -> None:
        """A refused change changes nothing; after another one, MEMORY.md is as if it was made from nothing."""
        before = self.everything()
        try:
            change(self.books[who])
        except MemoryRefused:
            assert self.everything() == before
            return
        if not self.unseen[who]:
            self.assert_index_is_right()

    def assert_index_is_right(self) -> None:
        path = self.folder / "MEMORY.md"
        written = path.read_text() if path.exists() else ""
        assert written == index_text([unmarked(memory) for memory in self.opened().all()])

    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*.md") if path.name != "MEMORY.md")

    # -- what books do

    @rule(who=WHO, name=NAMES, fact=FACTS, number=st.integers(0, 3))
    def add(self, who: int, name: str, fact: str, number: int) -> None:
        before = {memory.slug for memory in self.everything()}
        self.act(who, lambda book: book.add(name, f"{fact} Number {number}."))
        assert before <= {memory.slug for memory in self.everything()}

    @precondition(lambda self: self.files())
    @rule(who=WHO, fact=FACTS, data=st.data())
    def supersede(self, who: int, fact: str, data: st.DataObject) -> None:
        slug = data.draw(st.sampled_from(self.files())).stem
        self.act(who, lambda book: book.supersede(slug, fact))

    @precondition(lambda self: len(self.files()) > 1)
    @rule(who=WHO, data=st.data())
    def supersede_by_one_that_is_there(self, who: int, data: st.DataObject) -> None:
        old, new = (data.draw(st.sampled_from(self.files())).stem for _ in range(2))
        self.act(who, lambda book: book.supersede(old, by=new))

    @precondition(lambda self: self.files())
    @rule(who=WHO, fact=FACTS, data=st.data())
    def update(self, who: int, fact: str, data: st.DataObject) -> None:
        slug = data.draw(st.sampled_from(self.files())).stem
        self.act(who, lambda book: book.update(slug, body=fact, description=fact, type="feedback"))

    @precondition(lambda self: self.files())
    @rule(who=WHO, data=st.data())
    def forget(self, who: int, data: st.DataObject) -> None:
        slug = data.draw(st.sampled_from(self.files())).stem
        self.act(who, lambda book: book.forget(slug))

    @rule(who=WHO)
    def undo(self, who: int) -> None:
        self.act(who, lambda book: book.undo())

    @rule(who=WHO)
    def consolidate(self, who: int) -> None:
        self.act(who, consolidate)

    # -- what people do

    def by_hand(self) -> None:
        self.unseen = {0: True, 1: True}

    @rule(name=NAMES, fact=FACTS, slug=st.sampled_from(["port", "By Hand", "team-2"]), in_place=st.booleans())
    def write_a_file(self, name: str, fact: str, slug: str, in_place: bool) -> None:
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{slug}.md"
        text = NOTE.format(name=name, more="", fact=fact)
        if in_place:
            path.write_text(text)
        else:
            (self.root / "saved").write_text(text)
            (self.root / "saved").replace(path)
        self.by_hand()

    @precondition(lambda self: self.files())
    @rule(data=st.data(), name=NAMES, fact=FACTS)
    def edit(self, data: st.DataObject, name: str, fact: str) -> None:
        path, other = (data.draw(st.sampled_from(self.files())) for _ in range(2))
        more = data.draw(
            st.sampled_from(["", f'supersedes: ["{other.stem}"]\n', f'derived_from: ["{other.stem}"]\n'])
        )
        path.write_text(NOTE.format(name=name, more=more, fact=fact))
        self.by_hand()

    @precondition(lambda self: self.files())
    @rule(data=st.data())
    def edit_under_another_name(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(self.files()))
        link = self.root / "elsewhere.md"
        link.unlink(missing_ok=True)
        os.link(path, link)
        self.look(0)
        link.write_text(NOTE.format(name="linked", more="", fact="It came another way."))
        self.by_hand()

    @precondition(lambda self: self.files())
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.files())).write_bytes(b"\xff not text")
        self.by_hand()

    @precondition(lambda self: self.files())
    @rule(data=st.data(), archived=st.booleans())
    def take_away(self, data: st.DataObject, archived: bool) -> None:
        path = data.draw(st.sampled_from(self.files()))
        if archived:
            (self.folder / "archive").mkdir(exist_ok=True)
            path.replace(self.folder / "archive" / path.name)
        else:
            path.unlink()
        self.by_hand()

    # -- what must hold

    @rule(who=WHO)
    def look(self, who: int) -> None:
        """A look sees all that a fresh one sees, and so does what follows the looks."""
        fresh, book = self.opened(), self.books[who]
        assert book.all(superseded=True, archived=True) == fresh.all(superseded=True, archived=True)
        assert book.all() == fresh.all()
        assert book.superseded() == fresh.superseded()
        assert book.index() == fresh.index()
        assert [problem.where for problem in book.left_out()] == [problem.where for problem in fresh.left_out()]
        query = "is the port of the host red or blue?"
        found = self.finders[who].look().search(query, 50)
        reopened = Finder(fresh, dense=False, cache=self.root / "cache").look().search(query, 50)
        assert sorted((m.slug, m.body, round(score, 6)) for m, score in found) == sorted(
            (m.slug, m.body, round(score, 6)) for m, score in reopened
        )
        self.unseen[who] = False

    @rule(who=WHO)
    def heal(self, who: int) -> None:
        self.books[who].heal()
        self.unseen[who] = False
        self.assert_index_is_right()

    @invariant()
    def both_know_what_one_is_called(self) -> None:
        for memory in self.everything():
            if memory.archived is None:
                for book in self.books:
                    assert book._glance(memory.slug) == memory


TestTwoAtOnce = TwoAtOnce.TestCase
TestTwoAtOnce.settings = settings(max_examples=20, stateful_step_count=20)
