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
        ("Shipped yesterday, at last.", "Shipped on 2026-05-06, at last."),
        ("The report is due tomorrow", "The report is due on 2026-05-08"),
        ("The release is tomorrow.", "The release is on 2026-05-08."),
        ("Anna is leaving next week.", "Anna is leaving in the week of 2026-05-11."),
        ("It broke today", "It broke on 2026-05-07"),
        ("The sale ends today.", "The sale ends on 2026-05-07."),
        ("We met the day before yesterday.", "We met on 2026-05-05."),
        ("It was decided 3 days ago.", "It was decided on 2026-05-04."),
        ("We froze two weeks ago.", "We froze around 2026-04-23."),
        ("We froze a couple of weeks ago.", "We froze around 2026-04-23."),
        ("I moved to Berlin a month ago", "I moved to Berlin in 2026-04"),
        ("The office was opened two years ago.", "The office was opened in 2024."),
        ("The team moved to Berlin last year.", "The team moved to Berlin in 2025."),
        ("Anna joined last week.", "Anna joined in the week of 2026-04-27."),
        ("The trial will end next month", "The trial will end in 2026-06"),
        ("They met last Monday.", "They met on 2026-05-04."),
        ("They met last Thursday.", "They met on 2026-04-30."),
        ("We'll decide next Friday.", "We'll decide on 2026-05-08."),
        ("Staging is down since this morning", "Staging is down since 2026-05-07"),
        ("The ticket is open since yesterday", "The ticket is open since 2026-05-06"),
        ("The fix will be in by tomorrow.", "The fix will be in by 2026-05-08."),
        ("> a quotation\nWe ran `make` yesterday.", "> a quotation\nWe ran `make` on 2026-05-06."),
        ("The port is 443. It was changed last night.", "The port is 443. It was changed on 2026-05-06."),
    ],
)
def test_what_is_relative_becomes_a_date(text: str, wanted: str) -> None:
    assert absolute(text, THURSDAY) == wanted
    assert absolute(wanted, THURSDAY) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "yesterday's build broke",
        "We ran `date -d yesterday`",
        "```\nWe shipped yesterday\n```",
        "> We shipped yesterday",
        "    we shipped yesterday",
        "It was todayish",
        "It was in USA Today",
        "We met on 7 May 2026",
        "Tests freeze date.today() with freezegun; the dashboard shows this week and last week.",
        "We mocked date.today and today() yesterday_total was wrong",
        "We read https://example.org/today last-week.csv",
        'The button was labelled "last week".',
        "The filter was called “today”, then 'last week'.",
        "Never promise anything for tomorrow.",
        "Charts default to last week.",
        "Every Monday we look at last week.",
        "When a build broke yesterday, it is run anew.",
        "The job deletes files that were modified 30 days ago.",
        "Files modified 3 days ago are purged.",
        "Say what you did yesterday in the standup.",
        "The header has today's date.",
        "Today we are on Postgres 16.",
        "We moved the numbers of last month into a table.",
        "We computed last month revenue anew.",
        "The view was named after this week and last week.",
        "It broke on 5 May; three days earlier it was fine.",
        "If `make` failed and it broke, we shipped yesterday",
        "tomorrow",
        "last week",
        "Invoices go out next month.",
        "Use last year as a baseline.",
        "The cache is valid until tomorrow if it was warm.",
    ],
)
def test_what_is_not_surely_meant_so_stays(text: str) -> None:
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
