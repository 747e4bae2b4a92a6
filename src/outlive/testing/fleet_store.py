"""The contract of `outlive.stores.fleet.protocol` as tests. An engine that passes can hold the documents of a fleet.

    class TestMyFleet(FleetStoreConformance):
        @pytest.fixture
        def open_fleet(self, tmp_path):
            return lambda: MyFleetStore(tmp_path)

`open_fleet` is called several times in one test and must open the same store each time, empty at first, as several
processes would. This suite does not test crashes, which depend on the engine.
"""

import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TypeAlias

import pytest

from outlive.stores.fleet.protocol import FleetStore

OpenFleet: TypeAlias = Callable[[], FleetStore]

AWKWARD = ("../../etc/passwd", "a b", "a%b", "a_b", "naïve – 名前", "new\nline", "'; --", "x" * 400, "")
THREADS, STEPS = 8, 20


def put(fleet: FleetStore, kind: str, id: str, form: bytes) -> None:
    fleet.change(kind, id, lambda _old, _now: form)


def one_more(old: bytes | None, now: datetime) -> bytes:
    return b"%d" % (int(old or b"0") + 1)


class FleetStoreConformance:
    """Override the fixture `open_fleet`."""

    @pytest.fixture
    def open_fleet(self) -> OpenFleet:
        raise NotImplementedError("override the fixture `open_fleet`")

    @pytest.fixture
    def fleet(self, open_fleet: OpenFleet) -> Iterator[FleetStore]:
        store = open_fleet()
        yield store
        store.close()

    @pytest.fixture
    def other(self, open_fleet: OpenFleet) -> Iterator[FleetStore]:
        store = open_fleet()
        yield store
        store.close()

    # -- reading

    def test_a_new_store_has_no_documents(self, fleet: FleetStore) -> None:
        assert fleet.all("worker") == {}
        assert fleet.get("worker", "a") is None

    def test_what_was_written_is_read_by_others_as_it_was(self, fleet: FleetStore, other: FleetStore) -> None:
        forms = {"a": b"", "b": b"\x00\xff\r\n" * 1000, "c": '{"ünï": "\U0001f600"}'.encode()}
        for id, form in reversed(forms.items()):
            put(fleet, "worker", id, form)
        assert list(other.all("worker").items()) == list(forms.items())
        assert [other.get("worker", id) for id in forms] == list(forms.values())

    def test_kinds_do_not_disturb_each_other(self, fleet: FleetStore) -> None:
        put(fleet, "worker", "a", b"works")
        put(fleet, "budget", "a", b"50")
        fleet.change("worker", "a", lambda _old, _now: None)
        assert (fleet.get("worker", "a"), fleet.get("budget", "a")) == (None, b"50")

    @pytest.mark.parametrize("id", AWKWARD)
    def test_any_id_has_a_document_of_its_own(self, fleet: FleetStore, other: FleetStore, id: str) -> None:
        for each in AWKWARD:
            put(fleet, each, each, each.encode())
        assert other.get(id, id) == id.encode()
        assert other.all(id) == {id: id.encode()}

    def test_there_is_one_clock(self, fleet: FleetStore, other: FleetStore) -> None:
        times = [fleet.now(), other.now()]
        fleet.change("worker", "a", lambda _old, now: times.append(now))
        times.append(fleet.now())
        assert times == sorted(times)
        assert all(time.tzinfo is not None for time in times)

    # -- changing

    def test_a_change_begins_with_the_present_form(self, fleet: FleetStore, other: FleetStore) -> None:
        seen: list[bytes | None] = []

        def work(old: bytes | None, now: datetime) -> bytes:
            seen.append(old)
            return b"%d" % len(seen)

        assert fleet.change("worker", "a", work) == b"1"
        assert other.change("worker", "a", work) == b"2"
        assert fleet.get("worker", "a") == b"2"
        assert seen == [None, b"1"]

    def test_nothing_as_the_new_form_removes_the_document(self, fleet: FleetStore, other: FleetStore) -> None:
        put(fleet, "worker", "a", b"1")
        for _ in range(2):
            assert other.change("worker", "a", lambda _old, _now: None) is None
            assert fleet.get("worker", "a") is None
            assert fleet.all("worker") == {}
        assert fleet.change("worker", "a", one_more) == b"1"

    @pytest.mark.parametrize("before", [{}, {"a": b"1"}])
    def test_a_change_that_raises_changes_nothing(
        self, fleet: FleetStore, other: FleetStore, before: dict[str, bytes]
    ) -> None:
        for id, form in before.items():
            put(fleet, "worker", id, form)

        def refuse(old: bytes | None, now: datetime) -> bytes:
            raise LookupError("no")

        with pytest.raises(LookupError):
            fleet.change("worker", "a", refuse)
        assert fleet.all("worker") == other.all("worker") == before
        assert other.change("worker", "a", one_more, announce=True) == b"%d" % (len(before) + 1)

    # -- at once

    def test_no_change_is_lost_between_threads(self, fleet: FleetStore, other: FleetStore) -> None:
        errors: list[BaseException] = []

        def work(store: FleetStore) -> None:
            try:
                for _ in range(STEPS):
                    store.change("count", "all", one_more)
            except BaseException as error:  # noqa: BLE001 - shown by the assertion
                errors.append(error)

        threads = [threading.Thread(target=work, args=[(fleet, other)[n % 2]]) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert fleet.get("count", "all") == b"%d" % (THREADS * STEPS)
