"""The memories of a project and of its user, and the rules for changing them.

A superseded memory is kept but no longer selected. Forgetting moves a memory into the archive, together with what was
derived from it and what it had superseded, so that no error comes back. Each change is one undoable step of the log.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from outlive.config import home as home_folder
from outlive.errors import StoreUnavailable
from outlive.memory import changelog, guard
from outlive.memory.errors import InvalidMemory, UndoConflict, UnknownMemory
from outlive.memory.index import Entry, index_text
from outlive.memory.refs import Match, find, first_line, forgotten, live_in, refuse_known, slug_of, unknown
from outlive.memory.supersession import cascade, hidden_by, in_use, newest, reach
from outlive.stores import open_stores
from outlive.stores.memories.protocol import REPAIR, MemoryReader, MemoryStore, MemoryWriter
from outlive.stores.memories.records import SCOPES, Kind, Memory, MemoryStep, Provenance, Scope, unmarked
from outlive.stores.tasks.protocol import Problem

if TYPE_CHECKING:
    from outlive.memory.learning.candidate import Candidate

T = TypeVar("T")
_UNSET: Any = object()


class Memories:
    """A project's memories, and those that the user has in all projects."""

    def __init__(
        self, project: MemoryStore, user: MemoryStore | None = None, *, actor: str = "", home: Path | None = None
    ) -> None:
        self.stores: dict[Scope, MemoryStore] = {"project": project}
        if user is not None:
            self.stores["user"] = user
        self.actor = actor
        self.home = home
        self._entries: dict[Scope, dict[str, tuple[Memory, Entry]]] = {scope: {} for scope in self.stores}
        self.healed: list[Scope] = []
        """Scopes whose index was out of date on opening and was rewritten."""

    @classmethod
    def open(
        cls,
        url: str = "files:.tasks",
        *,
        base: Path | None = None,
        home: Path | None = None,
        durability: str = "full",
        actor: str = "",
        clock: Callable[[], datetime] | None = None,
        heal: bool = True,
    ) -> "Memories":
        """Open the memories of the workspace's store; `home` defaults to OUTLIVE_HOME or ~/.outlive. Heals the
        indexes."""
        home = home or home_folder()
        stores = open_stores(url, base=base, durability=durability, home=home, clock=clock)
        found = cls(stores.memories, stores.user_memories, actor=actor, home=home)
        found.healed = found.heal() if heal else []
        return found

    def close(self) -> None:
        for store in self.stores.values():
            store.close()

    # -- looking ---------------------------------------------------------------------------------------

    def get(self, ref: str) -> Memory:
        """A memory by slug, `user/slug`, or name in any case; forgotten ones only if nothing else matches."""
        if found := self._find(ref):
            return found
        live = (memory for scope in self.stores for memory in self._everything(scope) if not memory.archived)
        raise unknown(ref, [memory.slug for memory in live])

    def all(
        self,
        *,
        type: Kind | None = None,
        scope: Scope | None = None,
        superseded: bool = False,
        archived: bool = False,
    ) -> list[Memory]:
        """Memories in use, by scope and slug; `superseded` and `archived` add those that are not."""
        found: list[Memory] = []
        for where in self.stores if scope is None else [scope]:
            everything = self._everything(where) if where in self.stores else []
            hidden = {} if superseded else hidden_by(everything)
            found += (m for m in everything if (archived or not m.archived) and m.slug not in hidden)
        return [memory for memory in found if type in (None, memory.type)]

    def in_use(self) -> dict[str, Memory]:
        """Memories that are neither forgotten nor superseded, by key (scope/slug)."""
        return {f"{memory.scope}/{memory.slug}": memory for memory in self.all()}

    def called(self, name: str) -> list[Memory]:
        """Trusted memories in use with this name, ignoring case."""
        wanted = name.casefold()
        return [m for m in self.all() if m.name.casefold() == wanted and not m.provenance.untrusted]

    def superseded(self) -> dict[str, str]:
        """Superseded memories as scope/slug, each with the slug of its replacement."""
        return {
            f"{scope}/{old}": new for scope in self.stores for old, new in hidden_by(self._everything(scope)).items()
        }

    def left_out(self) -> list[Problem]:
        """Memories that cannot be read or must not be shown."""
        found = [problem for store in self.stores.values() for problem in store.left_out()]
        for memory in self.all():
            if reason := guard.blocked_reason(memory):
                where = f"{memory.scope}/{memory.slug}"
                code = REPAIR if guard.poison(memory) else "blocked_memory"
                remedy = "edit it, or repair it" if code == REPAIR else "edit it, or confirm it"
                found.append(Problem(where, reason, remedy, code=code, data={"name": where}))
        return found

    def untrusted(self) -> list[Memory]:
        """Memories in use that came with the project's folder and are not trusted yet."""
        return [memory for memory in self.all(scope="project") if memory.provenance.untrusted]

    def adopt(self) -> None:
        """Trust all memories of the project, including those that others add later."""
        self.stores["project"].adopt()

    def disown(self) -> bool:
        """Withdraw that; False if it was never granted. Memories made here still count."""
        return self.stores["project"].disown()

    def index(self) -> str:
        """The index of both scopes for the system prompt, one line each, capped."""
        return index_text(self.all(), user_folder="user/")

    # -- changing --------------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        body: str = "",
        *,
        description: str = "",
        type: Kind = "project",
        scope: Scope = "project",
        keys: Iterable[str] = (),
        date: str = "",
        provenance: Provenance = Provenance(),  # noqa: B008 - frozen
        supersedes: Iterable[str] = (),
        derived_from: Iterable[str] = (),
        note: str = "",
    ) -> Memory:
        """Add a memory. Refused if it is known already or may not be remembered."""

        def work(tx: MemoryWriter) -> Memory:
            live = tx.all()
            hidden = hidden_by(live)
            olds = list(dict.fromkeys(newest(slug_of(ref, live, hidden), hidden) for ref in supersedes))
            memory = Memory(
                slug="-",
                name=name.strip(),
                description=description.strip() or first_line(body) or name.strip(),
                type=type,
                scope=scope,
                body=body,
                keys=tuple(dict.fromkeys(filter(None, map(str.strip, keys)))),
                date=date.strip(),
                provenance=provenance,
                created=tx.now,
                updated=tx.now,
                supersedes=tuple(olds),
                derived_from=tuple(slug_of(ref, live, hidden) for ref in derived_from),
            )
            guard.checked(memory)
            present = (m for m in live if m.slug not in hidden and m.slug not in olds)
            refuse_known(memory, (m for m in present if not m.provenance.untrusted))
            memory = replace(memory, slug=tx.new_slug(memory.name))
            tx.put(memory)
            tx.record("supersede" if olds else "add", actor=self.actor, note=note)
            return memory

        return self.write(scope, work)

    def update(
        self,
        ref: str,
        *,
        name: str = _UNSET,
        body: str = _UNSET,
        description: str = _UNSET,
        type: Kind = _UNSET,
        keys: Iterable[str] = _UNSET,
        date: str = _UNSET,
        provenance: Provenance = _UNSET,
        note: str = "",
    ) -> Memory:
        """Change a memory in place: the same fact in better words. A wrong memory is superseded instead."""
        old = self._glance(ref)
        given: dict[str, Any] = {"name": name, "body": body, "description": description, "type": type, "date": date}
        given |= {"keys": keys if keys is _UNSET else tuple(keys), "provenance": provenance}
        fields = {field: value for field, value in given.items() if value is not _UNSET}

        def work(tx: MemoryWriter) -> Memory:
            now = live_in(tx, old)
            memory = replace(now, **fields, updated=tx.now, revision=now.revision + 1)
            tx.put(guard.checked(memory))
            tx.record("update", actor=self.actor, note=note)
            return memory

        return self.write(old.scope, work)

    def supersede(self, ref: str, body: str = "", *, by: str = "", name: str = "", **fields: Any) -> Memory:
        """Replace a memory by a correction: new text, or (`by`) an existing memory.

        If the memory was corrected before, the new correction replaces the last one.
        """
        named = self._glance(ref)
        slug = newest(named.slug, hidden_by(self._everything(named.scope, glance=True)))
        old = self._glance(f"{named.scope}/{slug}")
        if not by:
            kept = {"type": old.type, "keys": old.keys}
            given = {**kept, **fields, "scope": old.scope, "supersedes": [old.slug]}
            return self.add(name or first_line(body)[:60] or old.name, body, **given)

        new = self._glance(by)
        if new.scope != old.scope or new.slug == old.slug:
            if new.slug == old.slug != named.slug:
                return new  # it has taken its place already
            raise InvalidMemory(f"{by!r} cannot supersede {ref!r}: it is {'the same' if new == old else 'elsewhere'}")

        def work(tx: MemoryWriter) -> Memory:
            now = live_in(tx, new)
            if old.slug in now.supersedes:
                return now
            if now.slug in reach(old.slug, {m.slug: m.supersedes for m in tx.all(archived=True)}):
                raise InvalidMemory(
                    f"{ref!r} already supersedes {by!r}", hint="undo that first", code="already_superseded"
                )
            memory = replace(now, supersedes=(*now.supersedes, old.slug), updated=tx.now, revision=now.revision + 1)
            tx.put(memory)
            tx.record("supersede", actor=self.actor, note=str(fields.get("note", "")))
            return memory

        return self.write(old.scope, work)

    def confirm(self, ref: str, *, note: str = "the user agreed") -> Memory:
        """The user confirms a memory that came with the folder, or an instruction by somebody else; until then no
        model sees it."""
        old = self._glance(ref)
        if not guard.needs_confirmation(old) and not old.provenance.untrusted:
            raise InvalidMemory(f"{old.name!r} needs no consent ({old.slug})")
        agreed = replace(old.provenance, confirmed=True, untrusted=False)
        return self.update(f"{old.scope}/{old.slug}", provenance=agreed, note=note)

    def learn(self, candidate: "Candidate", *, confirmed: bool = False) -> Memory:
        """Store an extracted candidate: add, update or supersede. `confirmed`: the user agreed to it."""
        source = replace(candidate.provenance, confirmed=confirmed or candidate.provenance.confirmed)
        note = f"learned in session {source.session}" if source.session else "learned"
        fields: dict[str, Any] = {"description": candidate.description, "type": candidate.type}
        fields |= {"provenance": source, "note": note} | ({"keys": candidate.keys} if candidate.keys else {})
        if candidate.action == "update":
            return self.update(candidate.target, body=candidate.body, **fields)
        fields["date"] = candidate.date
        if candidate.action == "supersede":
            return self.supersede(candidate.target, candidate.body, name=candidate.name, **fields)
        return self.add(candidate.name, candidate.body, scope=candidate.scope, **fields)

    def would_forget(self, *refs: str) -> list[Memory]:
        """Everything that forgetting these removes: what was derived from them, and what they had superseded."""
        found: dict[str, Memory] = {}
        for memory in map(self.get, refs):
            if memory.archived:
                raise forgotten(memory)
            gone = cascade(memory.slug, self._everything(memory.scope, glance=True))
            found |= {f"{other.scope}/{other.slug}": other for other in gone}
        return list(found.values())

    def forget(self, *refs: str, note: str = "") -> list[Memory]:
        """Archive memories and what `would_forget` lists, as one step per scope."""
        found = self.would_forget(*refs)
        gone = []
        for scope in self.stores:
            if here := [memory for memory in found if memory.scope == scope]:
                gone += self.write(scope, partial(self._archive, found=here, note=note))
        return gone

    # -- the log ---------------------------------------------------------------------------------------

    def log(self, ref: str = "") -> list[changelog.ChangelogEntry]:
        """All steps, oldest first; or those that changed one memory."""
        steps = {scope: store.read(lambda tx: tx.steps()) for scope, store in self.stores.items()}
        found = [entry for scope, made in steps.items() for entry in changelog.entries(scope, made)]
        found.sort(key=lambda entry: (entry.step.at, entry.step.id))
        if not ref:
            return found
        places = {(change.slug, entry.scope) for entry in found for change in entry.step.changes}
        wanted = {place for place in places if place[0] == ref.rpartition("/")[2]}
        if not wanted:
            memory = self.get(ref)
            wanted = {(memory.slug, memory.scope)}
        return [entry for entry in found if any((c.slug, entry.scope) in wanted for c in entry.step.changes)]

    def undo(self, step: str = "", *, note: str = "") -> changelog.ChangelogEntry:
        """Undo a step, by default the last one that was not undone. Undoing an undo restores it."""
        found = self.log()
        entry = changelog.find_step(found, step) if step else changelog.last_undoable(found)
        if entry is None:
            raise UnknownMemory("there is nothing to undo")
        if entry.undone:
            raise UndoConflict(f"step {entry.id} is undone already")
        if not entry.step.changes:
            raise UndoConflict(f"step {entry.id} changed nothing, so there is nothing to undo")

        def work(tx: MemoryWriter) -> MemoryStep:
            changelog.take_back(tx, entry)
            return tx.record("undo", actor=self.actor, note=note or entry.step.op, undoes=entry.step.id)

        return changelog.ChangelogEntry(entry.scope, self.write(entry.scope, work))

    # -- shared ----------------------------------------------------------------------------------------

    def write(self, scope: Scope, work: Callable[[MemoryWriter], T]) -> T:
        """Run one transaction on one of the stores and update its index."""
        if scope not in self.stores:
            raise InvalidMemory(f"there is no memory of scope {scope!r} here; one of {', '.join(self.stores)}")
        result = self.stores[scope].write(work)
        self._publish(scope, glance=True)
        return result

    def heal(self) -> list[Scope]:
        """Rewrite outdated indexes; returns their scopes."""
        return [scope for scope in self.stores if self._publish(scope)]

    def _publish(self, scope: Scope, *, glance: bool = False) -> bool:
        def render(tx: MemoryReader) -> str:
            return index_text([unmarked(memory) for memory in in_use(tx.all())], made=self._entries[scope])

        try:
            return self.stores[scope].publish(render, glance=glance)
        except StoreUnavailable:
            return False  # it is derived, and heals where it can be written; `doctor` names the difference

    def _everything(self, scope: Scope, *, glance: bool = False) -> list[Memory]:
        """All memories of a store, forgotten ones included."""
        return self.stores[scope].read(lambda tx: tx.all(archived=True), glance=glance)

    def _find(self, ref: str, *, glance: bool = False) -> Memory | None:
        scopes, bare = self._places(ref)

        def look(tx: MemoryReader) -> Match | None:
            if glance:
                tx.get(bare.removesuffix(".md"))  # a slug is found as it is now, whatever a glance overlooks
            everything = tx.all(archived=True)
            return find(bare, everything, hidden_by(everything))

        found = [self.stores[scope].read(look, glance=glance) for scope in scopes]
        best = min(filter(None, found), key=lambda match: match.rank, default=None)
        return best.memory if best else None

    def _glance(self, ref: str) -> Memory:
        """Find a memory by name; scans the whole store only if needed."""
        found = self._find(ref, glance=True)
        if found is not None and self.stores[found.scope].read(lambda tx: tx.get(found.slug), glance=True) == found:
            return found
        return self.get(ref)

    def _places(self, ref: str) -> tuple[list[Scope], str]:
        """The scopes to search for `user/slug` or for a plain name."""
        for scope in SCOPES:
            if ref.startswith(f"{scope}/"):
                return [scope] if scope in self.stores else [], ref.removeprefix(f"{scope}/")
        return list(self.stores), ref

    def _archive(self, tx: MemoryWriter, found: Sequence[Memory], note: str) -> list[Memory]:
        live = [live_in(tx, memory) for memory in found]
        gone = [replace(now, archived=tx.now, revision=now.revision + 1) for now in live]
        for memory in gone:
            tx.put(memory)
        tx.record("forget", actor=self.actor, note=note)
        return gone


def shown(keys: Iterable[str], memories: Mapping[str, Memory], *, untrusted: bool = False) -> list[Memory]:
    """The memories with these keys, in order, that may be shown to a model; `untrusted` adds those that came with the
    folder."""
    found = [memories[key] for key in dict.fromkeys(keys) if key in memories]
    return [memory for memory in found if not guard.blocked_reason(unmarked(memory) if untrusted else memory)]
