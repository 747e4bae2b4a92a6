"""The status line says what matters, in whatever width there is."""

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from outlive.agent.runtime import Gauge
from outlive.cli.chat.render.paint import Painter
from outlive.cli.chat.status import StatusFacts, bar, line
from outlive.cli.chat.words import ago, dollars, duration, short_session, tokens
from tests.cli.chat.test_terminal import Open, needs_tmux

FACTS = StatusFacts("anthropic:sonnet", Gauge(37_400, 176_000, 200_000), 0.42, True, 3, "ask", "3fa9c1")


def shown(width: int) -> str:
    return "".join(Painter(width, "plain").lines(line(FACTS, width)))


def test_it_says_everything_where_there_is_room() -> None:
    assert shown(110) == "sonnet · 37k / 200k ▕██░░░░░░░░░|▏ next pass at 176k · $0.42 · 3 tasks · ask · 3fa9c1"


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_it_fits_and_keeps_the_gauge_for_last(width: int) -> None:
    assert cell_len(shown(width)) <= width
    assert "37k / 200k" in shown(width)


def test_only_the_wanted_parts_are_shown_in_their_order() -> None:
    facts = replace(FACTS, branch="main", folder="project")
    shown = line(facts, 80, ["mode", "branch", "folder", "window"]).plain
    assert shown == "ask · main · project · 37k / 200k"
    assert "main" not in line(facts, 20, ["mode", "branch", "folder", "window"]).plain


@needs_tmux
def test_the_status_line_of_the_settings(terminal: Open) -> None:
    window = terminal("quick", SCENE_TERMINAL='status = ["folder", "mode"]')
    shown = window.until(" · ask")
    assert "200k" not in shown


def test_the_bar_shows_where_the_next_pass_sits() -> None:
    assert bar(Gauge(0, 50, 100), 4) == "▕░░|░▏"
    assert bar(Gauge(1, 50, 100), 4) == "▕░░|░▏"
    assert bar(Gauge(100, 50, 100), 4) == "▕████▏"
    assert bar(Gauge(1, 1, 0)) == ""


def test_the_bar_of_a_huge_window_is_about_the_next_pass() -> None:
    assert bar(Gauge(41_000, 82_000, 1_000_000), 8) == "▕██░░|░░░▏"


def test_sizes_and_times_read_well() -> None:
    assert [tokens(n) for n in (0, 999, 37_400, 999_499, 1_200_000)] == ["0", "999", "37k", "999k", "1.2M"]
    assert [duration(n) for n in (0.26, 42.4, 185)] == ["0.3 s", "42 s", "3 min 5 s"]
    assert [ago(n) for n in (5, 300, 7200, 86_400, 200_000)] == [
        "just now",
        "5 min ago",
        "2 h ago",
        "1 day ago",
        "2 days ago",
    ]
    assert [dollars(n) for n in (0, 0.004, 1.5)] == ["$0.00", "$0.004", "$1.50"]
    assert short_session("20300101-120000-3fa9c1d2e4b5") == "3fa9c1"
    assert short_session("my-name") == "my-name"
