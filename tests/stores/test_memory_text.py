"""A memory as a Markdown file: any text comes back as it was, and so does what people write by hand."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from outlive.errors import DamagedRecord, FutureVersion
from outlive.stores.memories.names import is_slug, slug_of
from outlive.stores.memories.records import (
    KINDS,
    MAX_MEMORY_BYTES,
    WHOS,
    Memory,
    OversizedMemory,
    Provenance,
    as_utc,
    mended,
)
from outlive.stores.memories.text import parse, render

MOMENTS = st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC))
NASTY = st.sampled_from(
    [
        "---",
        "\n---\n",
        ": ",
        "#",
        "'",
        '"',
        "\\",
        "\r\n",
        "\r",
        "\u2028",
        "\x85",
        "\x00",
        "\ufeff",
        "{{",
        "- ",
        "\t",
        "\U0001f600",
    ]
)
TEXT = st.lists(st.one_of(st.text(), NASTY)).map("".join)
LISTS = st.lists(TEXT, max_size=3).map(tuple)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    created = draw(MOMENTS)
    return Memory(
        slug="one",
        name=draw(TEXT.filter(bool)),
        description=draw(TEXT),
        type=draw(st.sampled_from(KINDS)),
        body=draw(TEXT),
        keys=draw(LISTS),
        date=draw(TEXT),
        provenance=Provenance(
            who=draw(st.sampled_from(WHOS)),
            session=draw(TEXT),
            event=draw(st.integers(0, 2**40)),
            confirmed=draw(st.booleans()),
        ),
        created=created,
        updated=draw(MOMENTS),
        supersedes=draw(LISTS),
        derived_from=draw(LISTS),
        archived=draw(st.none() | MOMENTS),
        revision=draw(st.integers(1, 2**50)),
        extra=draw(
            st.dictionaries(st.text(min_size=1).filter(lambda key: not key.startswith("m")), TEXT, max_size=2)
        ),
    )


def read(text: str | bytes, slug: str = "one") -> Memory:
    raw = text.encode() if isinstance(text, str) else text
    return parse(raw, slug=slug, where=f"{slug}.md", written=datetime(2026, 1, 1, tzinfo=UTC))


@given(memories())
def test_any_text_in_any_field_survives_a_round_trip(memory: Memory) -> None:
    whole = mended(memory)
    extra = {
        key: value for key, value in whole.extra.items() if key not in whole.__struct_fields__ and key != "version"
    }
    whole = Memory(**{**{name: getattr(whole, name) for name in whole.__struct_fields__}, "extra": extra})
    assert parse(render(whole), slug="one", where="one.md") == whole


@given(memories())
def test_any_reader_of_yaml_reads_the_frontmatter_as_we_do(memory: Memory) -> None:
    whole = mended(memory)
    front = re.split(r"^---\n", render(whole).decode(), maxsplit=2, flags=re.MULTILINE)[1]
    form = yaml.safe_load(front)
    assert form["name"] == whole.name
    assert form["description"] == whole.description
    assert tuple(form.get("keys", ())) == whole.keys
    assert form["provenance"]["who"] == whole.provenance.who


@given(st.text())
@example("../../etc/passwd")
@example("MEMORY")
@example("\x00")
def test_a_slug_is_a_plain_file_name(name: str) -> None:
    slug = slug_of(name)
    assert re.fullmatch(r"[a-z0-9-]{1,70}", slug)
    assert is_slug(slug)


def plain(**fields: Any) -> Memory:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Memory(slug="one", name="one", created=moment, updated=moment, **fields)


def test_an_extra_key_takes_no_place_of_one_of_ours() -> None:
    found = read(render(plain(extra={"name": "other", "type": "feedback", "mood": "good"})))
    assert (found.name, found.type, found.extra) == ("one", plain().type, {"mood": "good"})


def test_a_memory_may_be_as_large_as_the_limit_and_no_larger() -> None:
    body = "x" * (MAX_MEMORY_BYTES - len(render(plain())))
    assert read(render(plain(body=body))).body == body
    with pytest.raises(OversizedMemory, match="the limit is"):
        render(plain(body=body + "x"))


def test_a_newline_injects_no_key() -> None:
    made = Memory(
        slug="one",
        name="x\ntype: feedback\nsupersedes: [other]",
        description="---\nname: y",
        created=datetime(2026, 1, 1, tzinfo=UTC),
        updated=datetime(2026, 1, 1, tzinfo=UTC),
    )
    found = read(render(made))
    assert (found.type, found.supersedes, found.name, found.description) == (
        made.type,
        (),
        made.name,
        made.description,
    )


def test_a_file_of_ours_reads_well() -> None:
    made = Memory(
        slug="one",
        name="Use tabs",
        description="Makefiles need tabs: always",
        type="feedback",
        body="# Tabs\n\nIn Makefiles.",
        created=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        updated=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        supersedes=("old",),
    )
    assert render(made).decode() == (
        "---\nname: Use tabs\n"
        'description: "Makefiles need tabs: always"\n'
        "type: feedback\nscope: project\n"
        'provenance: {"who": "user"}\n'
        "created: 2026-01-02T03:04:05Z\nupdated: 2026-01-02T03:04:05Z\n"
        'supersedes: ["old"]\nrevision: 1\nversion: 1\n---\n\n# Tabs\n\nIn Makefiles.\n'
    )


HAND_WRITTEN: list[tuple[str, dict[str, Any]]] = [
    ("Just a note\nof two lines\n", {"name": "one", "body": "Just a note\nof two lines", "type": "project"}),
    ("---\nname: A: b\n---\nx\n", {}),
    ("---\nname: A b\ntype: feedback\n---\nbody\n", {"name": "A b", "type": "feedback", "body": "body"}),
    (
        "---\nname: >-\n  folded\n  text\ndescription: 'single ''quoted'''\n---\n\nb",
        {"name": "folded text", "description": "single 'quoted'", "body": "b"},
    ),
    (
        "---\nname: yes\ndescription: 2026-01-02\ndate: 12.50\n---\n",
        {"name": "yes", "description": "2026-01-02", "date": "12.50"},
    ),
    (
        "---\r\nname: Windows\r\ntype: user\r\n---\r\n\r\nline\r\nline\r\n",
        {"name": "Windows", "type": "user", "body": "line\nline"},
    ),
    ("\ufeff---\nname: marked\n---\n\nb\n", {"name": "marked", "body": "b"}),
    ("---\nname: role\nmetadata:\n  type: user\n---\nb\n", {"type": "user", "extra": {"metadata": {"type": "user"}}}),
    ("---\nname: k\nkeys: [a, 'b c']\nsupersedes: old\n---\n", {"keys": ("a", "b c"), "supersedes": ("old",)}),
    ("---\nname: k\nprovenance: web\ncreated: 2025-02-03\n---\n", {"created": datetime(2025, 2, 3, tzinfo=UTC)}),
    ("---\n---\nonly a body\n", {"name": "one", "body": "only a body"}),
]


@pytest.mark.parametrize(("text", "fields"), HAND_WRITTEN, ids=range(len(HAND_WRITTEN)))
def test_what_people_write_is_understood(text: str, fields: dict[str, Any]) -> None:
    if not fields:
        with pytest.raises(DamagedRecord, match="not YAML"):
            read(text)
        return
    found = read(text)
    assert {name: getattr(found, name) for name in fields} == fields
    assert read(render(found)) == found


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"---\nname: x\n", "has no end"),
        (b"\xff\xfe", "not UTF-8"),
        (b"---\nname: [x\n---\n", "not YAML"),
        (b"---\nname: {a: b}\n---\n", "name is not text"),
        (b"---\ntype: rumour\n---\n", "rumour"),
        (b"---\ncreated: yesterday\n---\n", "not a date"),
        (b"---\nkeys: [[a]]\n---\n", "list of words"),
        (b"---\n- a\n- b\n---\n", "key: value"),
        (b"---\n<<<<<<< HEAD\nname: a\n=======\nname: b\n>>>>>>> x\n---\n", "git conflict"),
        (b"---\nprovenance: {who: nobody}\n---\n", "provenance"),
        (b"---\nrevision: many\n---\n", "revision"),
        (b"---\nname: !!python/object/apply:os.system [ls]\n---\n", "name is not text"),
        (b"---\nversion: new\n---\n", "version"),
    ],
)
def test_what_cannot_be_understood_is_named(raw: bytes, reason: str) -> None:
    with pytest.raises(DamagedRecord, match=reason) as caught:
        read(raw)
    assert str(caught.value).startswith("one.md: ")


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(FutureVersion, match="upgrade"):
        read("---\nname: x\nversion: 2\n---\n")


def test_a_small_file_cannot_stand_for_an_endless_one() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(DamagedRecord, match="more than"):
        read("---\n" + "\n".join(lines) + "\n---\n")


@given(st.binary())
@example(b"---\n\x00: 1\n---\n")
def test_any_bytes_are_read_or_named(raw: bytes) -> None:
    try:
        found = read(b"---\n" + raw + b"\n---\n")
    except (DamagedRecord, FutureVersion):
        return
    assert found.slug == "one"


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FAR_EAST = timezone(timedelta(hours=14))


@pytest.mark.parametrize(
    ("moment", "read"),
    [
        (NOON.replace(tzinfo=None), NOON),
        (NOON.astimezone(FAR_EAST), NOON),
        (datetime.min.replace(tzinfo=FAR_EAST), datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_in_utc_with_or_without_a_zone(moment: datetime, read: datetime) -> None:
    assert as_utc(moment).isoformat() == read.isoformat()
