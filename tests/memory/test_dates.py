"""Relative dates are said as dates, seen from the day the memory speaks of."""

from datetime import date

import pytest

from outlive.memory.dates import absolute, read_date

THURSDAY = date(2026, 5, 7)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("We shipped yesterday.", "We shipped on 2026-05-06."),
        ("Yesterday we shipped", "On 2026-05-06 we shipped"),
        ("due tomorrow", "due on 2026-05-08"),
        ("It broke today", "It broke on 2026-05-07"),
        ("the day before yesterday", "on 2026-05-05"),
        ("decided 3 days ago", "decided on 2026-05-04"),
        ("two weeks ago", "around 2026-04-23"),
        ("a month ago", "in 2026-04"),
        ("two years ago", "in 2024"),
        ("last week", "in the week of 2026-04-27"),
        ("next month", "in 2026-06"),
        ("last year", "in 2025"),
        ("last Monday", "on 2026-05-04"),
        ("last Thursday", "on 2026-04-30"),
        ("next Friday", "on 2026-05-08"),
        ("since this morning", "since 2026-05-07"),
        ("open since yesterday", "open since 2026-05-06"),
    ],
)
def test_what_is_relative_becomes_a_date(text: str, wanted: str) -> None:
    assert absolute(text, THURSDAY) == wanted
    assert absolute(wanted, THURSDAY) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "yesterday's build",
        "run `date -d yesterday`",
        "```\nyesterday\n```",
        "> yesterday",
        "todayish",
        "the USA Today"[:11],
        "7 May 2026",
    ],
)
def test_what_is_not_meant_so_stays(text: str) -> None:
    assert absolute(text, THURSDAY) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-05-07", THURSDAY),
        ("7 May, 2026", THURSDAY),
        ("1:56 pm on 7 May, 2026", THURSDAY),
        ("May 7th, 2026", THURSDAY),
        ("2026-05-07T10:00:00Z", THURSDAY),
        ("2026-02-31", None),
        ("soon", None),
        ("", None),
    ],
)
def test_dates_are_read(text: str, wanted: date | None) -> None:
    assert read_date(text) == wanted
