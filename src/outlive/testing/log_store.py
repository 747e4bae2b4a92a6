"""The contract of `outlive.stores.logs.protocol` as tests. An engine that passes can store sessions.

    class TestMyLogs(LogStoreConformance):
        @pytest.fixture
        def open_logs(self, tmp_path):
            return lambda: MyLogStore(tmp_path)

`open_logs` is called several times in one test and must open the same store each time, empty at first, as several
processes would. This suite does not test crashes, which depend on the engine.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from msgspec.structs import replace

from outlive.errors import StoreError
from outlive.events import (
    Checkpointed,
    Compacted,
    Event,
    Forked,
    Noted,
    Receipt,
    SessionStarted,
    ToolFinished,
    Unknown,
    UserSaid,
    ViewEdit,
)
from outlive.messages import Image, Text
from outlive.stores.logs.blobs import BLOB_MIN_CHARS
from outlive.stores.logs.lines import REPLAY_LABEL
from outlive.stores.logs.names import InvalidSession, new_session_id
from outlive.stores.logs.protocol import (
    DamagedBlob,
    LogStore,
    SessionBusy,
    SessionExists,
    SessionReplaced,
    UnknownSession,
)
from outlive.stores.logs.reading import full_log
from outlive.stores.machine import machine_name

OpenLogs: TypeAlias = Callable[[], LogStore]

AWKWARD = (
    *("../../etc/passwd", "/absolute", ".hidden", "..", "a b", "a%2Fb", "a/b", "a~b", "naïve – 名前", "new\nline"),
    *("x" * 400, "y" * 399 + "z"),
)


def started(session: str, *, time: float = 1.0) -> SessionStarted:
    return SessionStarted(id=1, time=time, session=session, system="be brief")


def note(number: int, text: str = "something", *, time: float = 2.0) -> Noted:
    return Noted(id=number, time=time, parent=number - 1, text=text)


def said(number: int, text: str, *, time: float = 2.0) -> UserSaid:
    return UserSaid(id=number, time=time, parent=number - 1, blocks=(Text(text),))


def result(number: int, text: str) -> ToolFinished:
    return ToolFinished(id=number, time=3.0, parent=number - 1, call_id="c1", text=text)


def compacted(number: int) -> Compacted:
    """Make a pass whose digest shares most rows with the one before."""
    rows = [f"row {n} says ünï value_{n * 7}" for n in range(number, number + 80) if n % number]
    return Compacted(
        id=number,
        time=4.0,
        parent=number - 1,
        fold_to=number,
        digest="\n".join(["[Earlier:]", "", *rows, "…", f"newest {number}", ""]),
        edits=(ViewEdit(number, 0, "short"),),
        receipt=Receipt(("micro",), "pressure", 90, 40, {"user": 3}, handles=(*range(1, number), number + 5)),
        summary=f"sum {number}",
    )


def create(logs: LogStore, session: str, *events: Event) -> None:
    with logs.create(session) as writer:
        writer.append(events)


class LogStoreConformance:
    """Override the fixture `open_logs`."""

    @pytest.fixture
    def open_logs(self) -> OpenLogs:
        raise NotImplementedError("override the fixture `open_logs`")

    @pytest.fixture
    def logs(self, open_logs: OpenLogs) -> Iterator[LogStore]:
        store = open_logs()
        yield store
        store.close()

    @pytest.fixture
    def other(self, open_logs: OpenLogs) -> Iterator[LogStore]:
        store = open_logs()
        yield store
        store.close()

    # -- appending and reading

    def test_a_new_store_has_no_sessions(self, logs: LogStore) -> None:
        assert logs.sessions() == []

    def test_what_is_appended_is_read_by_others_as_it_was(self, logs: LogStore, other: LogStore) -> None:
        events: list[Event] = [started("s"), said(2, "do it\n\u2028 ünï \x00 \U0001f600"), note(3)]
        with logs.create("s") as writer:
            writer.append(events[:1])
            writer.append(events[1:])
            assert other.read("s").events == tuple(events)

    def test_nothing_is_appended_by_an_empty_append(self, logs: LogStore) -> None:
        with logs.create("s") as writer:
            writer.append([])
        assert logs.read("s").events == ()

    def test_a_session_goes_on_after_it_was_closed(self, logs: LogStore, other: LogStore) -> None:
        create(logs, "s", started("s"))
        with other.writer("s") as writer:
            writer.append([note(2)])
        assert [event.id for event in logs.read("s").events] == [1, 2]

    def test_an_event_of_a_newer_version_is_carried_along(self, logs: LogStore, other: LogStore) -> None:
        raw = b'{"type":"from_the_future","id":2,"time":1.5,"parent":1,"depth":[1,2]}'
        unknown = Unknown(id=2, time=1.5, parent=1, raw=raw)
        create(logs, "s", started("s"), unknown, note(3))
        assert other.read("s").events[1] == unknown
        assert other.read("s").damage == ()

    def test_ids_only_go_up(self, logs: LogStore) -> None:
        with logs.create("s") as writer:
            writer.append([started("s"), note(2)])
            for events in ([note(2)], [note(1)], [note(4), note(3)]):
                with pytest.raises(StoreError, match="cannot follow"):
                    writer.append(events)
            writer.append([note(5)])
        assert [event.id for event in logs.read("s").events] == [1, 2, 5]

    def test_a_session_that_is_not_there_is_named(self, logs: LogStore) -> None:
        for ask in (logs.read, logs.writer, logs.info):
            with pytest.raises(UnknownSession, match="'nobody'"):
                ask("nobody")

    # -- one writer

    def test_a_session_is_created_once(self, logs: LogStore, other: LogStore) -> None:
        with logs.create("s") as writer:
            writer.append([started("s")])
            with pytest.raises(SessionExists):
                other.create("s")
        assert len(logs.read("s").events) == 1

    def test_a_session_has_one_writer_at_a_time(self, logs: LogStore, other: LogStore) -> None:
        mark = Checkpointed(id=2, time=1.0, parent=1, label=REPLAY_LABEL)
        with logs.create("s") as first:
            first.append([started("s")])
            with pytest.raises(SessionBusy):
                other.writer("s")
            with pytest.raises(SessionBusy):
                other.replace("s", [started("s"), mark])
            first.append([note(2)])
        with other.writer("s") as second:
            second.append([note(3)])
        assert [event.id for event in logs.read("s").events] == [1, 2, 3]

    def test_a_closed_writer_appends_nothing(self, logs: LogStore) -> None:
        writer = logs.create("s")
        writer.append([started("s")])
        writer.close()
        with pytest.raises(StoreError):
            writer.append([note(2)])
        with logs.writer("s") as again:
            again.append([note(2)])

    # -- leases

    def test_epochs_grow_with_each_writer(self, logs: LogStore, other: LogStore) -> None:
        epochs = []
        with logs.create("s") as writer:
            writer.append([started("s")])
            epochs.append(writer.epoch)
        for store in (logs, other, logs):
            with store.writer("s") as writer:
                epochs.append(writer.epoch)
        first, second = logs.writer("s"), other.writer("s", take_over=True)
        epochs += [first.epoch, second.epoch]
        first.close()
        second.close()
        assert epochs == [1, 2, 3, 4, 5, 6]

    def test_the_lease_tells_who_has_a_session_open(self, logs: LogStore, other: LogStore) -> None:
        with pytest.raises(UnknownSession):
            other.lease("s")
        with logs.create("s") as writer:
            writer.append([started("s")])
            lease = other.lease("s")
            assert lease is not None
            assert (lease.pid, lease.epoch, lease.alive) == (os.getpid(), 1, True)
            assert lease.machine == machine_name()
            assert lease.heard > 0
            writer.renew()
            again = other.lease("s")
            assert again is not None
            assert again.heard >= lease.heard
        assert other.lease("s") is None

    def test_a_writer_that_was_taken_over_changes_nothing(self, logs: LogStore, other: LogStore) -> None:
        old = logs.create("s")
        old.append([started("s"), note(2, "acknowledged")])
        with other.writer("s", take_over=True) as new:
            for events in ([note(3, "too late")], [note(4), note(5)]):
                with pytest.raises(SessionBusy, match="taken over"):
                    old.append(events)
            with pytest.raises(SessionBusy, match="taken over"):
                old.renew()
            new.append([note(3, "goes on")])
            old.close()
            lease = other.lease("s")
            assert lease is not None
            assert (lease.epoch, lease.alive) == (2, True)
            new.renew()
            new.append([note(4)])
        assert logs.read("s").events == (started("s"), note(2, "acknowledged"), note(3, "goes on"), note(4))
        assert logs.read("s").damage == ()

    def test_taking_over_what_nobody_has_is_opening_it(self, logs: LogStore, other: LogStore) -> None:
        create(logs, "s", started("s"))
        with other.writer("s", take_over=True) as writer:
            writer.append([note(2)])
        assert [event.id for event in logs.read("s").events] == [1, 2]
        with pytest.raises(UnknownSession):
            logs.writer("nobody", take_over=True)

    def test_a_closed_writer_renews_nothing(self, logs: LogStore) -> None:
        writer = logs.create("s")
        writer.close()
        with pytest.raises(StoreError):
            writer.renew()

    def test_sessions_do_not_disturb_each_other(self, logs: LogStore, other: LogStore) -> None:
        with logs.create("a") as one, other.create("b") as two:
            one.append([started("a")])
            two.append([started("b"), note(2)])
            one.append([note(2, "of a")])
        assert logs.read("a").events == (started("a"), note(2, "of a"))
        assert logs.read("b").events == (started("b"), note(2))

    # -- names

    @pytest.mark.parametrize("name", AWKWARD)
    def test_any_name_has_a_log_of_its_own(self, logs: LogStore, other: LogStore, name: str) -> None:
        for each in AWKWARD:
            create(logs, each, started(each))
        assert other.read(name).events == (started(name),)
        assert name in {info.id for info in other.sessions()}

    def test_a_session_needs_a_name_that_can_be_written(self, logs: LogStore) -> None:
        for name in ("", "  ", "nul\x00"):
            with pytest.raises(InvalidSession):
                logs.create(name)

    def test_new_ids_differ_within_one_second(self) -> None:
        ids = {new_session_id(1.0) for _ in range(1000)}
        assert len(ids) == 1000

    # -- the list

    def test_the_list_tells_what_a_session_is(self, logs: LogStore, other: LogStore) -> None:
        create(logs, "old", started("old", time=10.0), said(2, "fix the parser\n  please", time=20.0))
        create(logs, "new", Forked(id=3, time=30.0, parent=2, session="old", at=2), note(4, time=40.0))
        new, old = other.sessions()
        assert (old.id, old.started, old.updated, old.last_event) == ("old", 10.0, 20.0, 2)
        assert (old.title, old.forked_from, old.replay) == ("fix the parser please", "", False)
        assert (new.id, new.forked_from, new.last_event) == ("new", "old", 4)
        assert other.info("old") == old
        assert old.size > 50

    def test_an_empty_session_is_listed(self, logs: LogStore, other: LogStore) -> None:
        logs.create("s").close()
        assert [(info.id, info.last_event, info.title) for info in other.sessions()] == [("s", 0, "")]

    # -- forks

    def test_a_fork_shares_the_past(self, logs: LogStore, other: LogStore) -> None:
        create(logs, "a", started("a"), note(2), note(3, "after the fork"))
        create(logs, "b", Forked(id=3, time=5.0, parent=2, session="a", at=2), note(4))
        create(logs, "c", Forked(id=5, time=6.0, parent=4, session="b", at=4))
        log = full_log(other, "c")
        assert [event.id for event in log.events] == [1, 2, 3, 4, 5]
        assert [type(event) for event in log.events] == [SessionStarted, Noted, Forked, Noted, Forked]
        assert log.damage == ()

    def test_a_fork_of_a_fork_may_go_back_before_the_first(self, logs: LogStore, other: LogStore) -> None:
        create(logs, "a", started("a"), note(2), note(3))
        create(logs, "b", Forked(id=4, time=5.0, parent=3, session="a", at=3), note(5))
        create(logs, "c", Forked(id=3, time=6.0, parent=2, session="b", at=2), note(4, "of c"))
        log = full_log(other, "c")
        assert [event.id for event in log.events] == [1, 2, 3, 4]
        assert log.events[3] == note(4, "of c")
        assert log.damage == ()

    def test_a_fork_whose_past_is_gone_says_so_and_goes_on(self, logs: LogStore) -> None:
        create(logs, "b", Forked(id=3, time=5.0, parent=2, session="a", at=2), note(4))
        log = full_log(logs, "b")
        assert [event.id for event in log.events] == [3, 4]
        assert "'a'" in str(log.damage[0])

    def test_forks_in_a_circle_come_to_an_end(self, logs: LogStore) -> None:
        for name, history in (("a", "b"), ("b", "a")):
            create(logs, name, Forked(id=3, time=5.0, parent=2, session=history, at=9), note(4))
        assert full_log(logs, "a").damage

    # -- large results

    def test_a_large_result_comes_back_whole(self, logs: LogStore, other: LogStore) -> None:
        text = "zeile ü\x00\n" * BLOB_MIN_CHARS
        create(logs, "s", started("s"), result(2, text), result(3, text), result(4, "short"))
        assert other.read("s").events[1:] == (result(2, text), result(3, text), result(4, "short"))
        assert other.get_blob(hashlib.sha256(text.encode()).hexdigest()) == text.encode()
        assert other.info("s").size < 2000

    def test_a_large_paste_and_pictures_come_back_whole(self, logs: LogStore, other: LogStore) -> None:
        text, picture = "Zeile ü\x00 \U0001f600\n" * BLOB_MIN_CHARS, Image(data="aGFsbG8=" * BLOB_MIN_CHARS)
        blocks = (Text("look"), Text(text), picture, Image("image/gif", url="https://example.org/a.gif"), Text(""))
        pasted = UserSaid(id=2, time=2.0, parent=1, blocks=blocks)
        seen = ToolFinished(id=3, time=3.0, parent=2, call_id="c", text="seen", images=(picture, Image(data="YQ==")))
        both = replace(seen, id=4, parent=3, text=text, exit_code=1)
        create(logs, "s", started("s"), pasted, seen, both, note(5))
        log = other.read("s")
        assert log.events == (started("s"), pasted, seen, both, note(5))
        assert log.damage == ()
        assert other.get_blob(hashlib.sha256(text.encode()).hexdigest()) == text.encode()
        assert other.get_blob(hashlib.sha256(picture.data.encode()).hexdigest()) == picture.data.encode()
        assert other.info("s").size < 4000

    def test_a_session_that_begins_with_a_large_paste_is_named_after_it(
        self, logs: LogStore, other: LogStore
    ) -> None:
        create(logs, "s", started("s"), said(2, "fix\n this: " + "trace " * BLOB_MIN_CHARS))
        assert other.info("s").title.startswith("fix this: trace trace")

    def test_a_blob_is_what_was_put(self, logs: LogStore, other: LogStore) -> None:
        for data in (b"", b"\x00\xff" * 1000, b"\r\n"):
            digest = logs.put_blob(data)
            assert digest == logs.put_blob(data) == hashlib.sha256(data).hexdigest()
            assert other.get_blob(digest) == data

    def test_a_missing_blob_is_named(self, logs: LogStore) -> None:
        for digest in ("0" * 64, "../../etc/passwd", ""):
            with pytest.raises(DamagedBlob):
                logs.get_blob(digest)

    # -- passes

    def test_passes_come_back_as_they_were(self, logs: LogStore, other: LogStore) -> None:
        events: list[Event] = [started("s"), *(compacted(number) for number in range(2, 60))]
        with logs.create("s") as writer:
            for event in events[:30]:
                writer.append([event])
            writer.append(events[30:40])
        with logs.writer("s") as writer:
            writer.append(events[40:])
        log = other.read("s")
        assert log.events == tuple(events)
        assert log.damage == ()

    def test_a_pass_after_a_refused_one_comes_back_as_it_was(self, logs: LogStore, other: LogStore) -> None:
        with logs.create("s") as writer:
            writer.append([started("s"), compacted(4)])
            with pytest.raises(StoreError, match="cannot follow"):
                writer.append([compacted(5), note(3)])
            writer.append([compacted(6)])
        assert other.read("s").events[1:] == (compacted(4), compacted(6))

    def test_a_pass_of_a_fork_needs_nothing_of_its_past(self, logs: LogStore, other: LogStore) -> None:
        create(logs, "a", started("a"), compacted(2), compacted(3))
        create(logs, "b", Forked(id=4, time=5.0, parent=3, session="a", at=3), compacted(5), compacted(6))
        assert other.read("b").events[1:] == (compacted(5), compacted(6))
        assert other.read("b").damage == ()

    # -- followed while it is written

    def test_a_tail_reads_what_is_appended_once(self, logs: LogStore, other: LogStore) -> None:
        create(logs, "s", started("s"), note(2))
        tail = other.tail("s")
        assert tail.read().events == (started("s"), note(2))
        assert tail.read().events == ()
        with logs.writer("s") as writer:
            writer.append([compacted(3)])
            assert tail.read().events == (compacted(3),)
            writer.append([result(4, "x" * (BLOB_MIN_CHARS + 1)), note(5)])
            assert tail.read().events == (result(4, "x" * (BLOB_MIN_CHARS + 1)), note(5))
        tail.close()

    def test_a_tail_says_that_the_log_was_replaced(self, logs: LogStore, other: LogStore) -> None:
        mark = Checkpointed(id=2, time=1.0, parent=1, label=REPLAY_LABEL)
        logs.replace("r", [started("r"), mark, note(3)])
        tail = other.tail("r")
        tail.read()
        logs.replace("r", [started("r"), mark, said(3, "again")])
        with pytest.raises(SessionReplaced):
            tail.read()
        tail.close()

    def test_the_tail_of_an_unknown_session_is_refused(self, logs: LogStore) -> None:
        with pytest.raises(UnknownSession):
            logs.tail("s")

    def test_the_state_tells_whether_anything_was_written(self, logs: LogStore, other: LogStore) -> None:
        before = other.state()
        create(logs, "s", started("s"))
        begun = other.state()
        assert begun != before
        assert other.state() == begun
        with logs.writer("s") as writer:
            writer.append([note(2)])
        assert other.state() != begun

    def test_a_session_has_a_writer_while_one_is_open(self, logs: LogStore, other: LogStore) -> None:
        with pytest.raises(UnknownSession):
            other.has_writer("s")
        with logs.create("s") as writer:
            writer.append([started("s")])
            assert other.has_writer("s")
        assert not other.has_writer("s")

    # -- replays

    def test_a_derived_log_takes_the_place_of_the_last_one(self, logs: LogStore, other: LogStore) -> None:
        mark = Checkpointed(id=2, time=1.0, parent=1, label=REPLAY_LABEL)
        logs.replace("r", [started("r"), mark, note(3, "x" * 100)])
        logs.replace("r", [started("r"), mark, said(3, "again")])
        assert other.read("r").events == (started("r"), mark, said(3, "again"))
        assert other.info("r").replay
        with other.writer("r") as writer:
            writer.append([note(4)])
        assert len(logs.read("r").events) == 4
