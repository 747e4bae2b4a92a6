"""Colours: readable on their background, none where none are wanted."""

import re
from typing import get_args

import pytest
from prompt_toolkit.styles import Style as InterfaceStyle
from prompt_toolkit.styles import default_ui_style, merge_styles
from rich.color import Color
from rich.style import Style
from rich.text import Text

from outlive.cli.chat.preferences import Theme, preferences
from outlive.cli.chat.render.markdown import Prose
from outlive.cli.chat.render.paint import Painter
from outlive.cli.chat.render.themes import PALETTES, code_theme, interface
from tests.cli.chat.test_terminal import Open, needs_tmux

BACKGROUNDS = {"dark": ("#000000", "#1e1e1e", "#282c34"), "light": ("#ffffff", "#fafafa", "#fdf6e3")}
READABLE = 4.5
"""The contrast that WCAG asks of text, level AA."""
COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?(?:[349][0-7]|10[0-7]|[34]8;5;\d+)[\d;]*m")


def luminance(colour: Color) -> float:
    parts = [part / 255 for part in colour.get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_every_colour_is_readable_on_the_backgrounds_of_its_theme(theme: str) -> None:
    colours = {name: Style.parse(style).color for name, style in PALETTES[theme].items()}
    for background in BACKGROUNDS[theme]:
        for name, colour in colours.items():
            assert colour is not None
            assert contrast(colour, Color.parse(background)) >= READABLE, (name, background)


@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_code_and_the_interface_use_the_colours_of_the_theme(theme: Theme) -> None:
    allowed = {Style.parse(style).color for style in PALETTES[theme].values()}
    styles = code_theme(theme).style_map.values()  # type: ignore[attr-defined]
    assert {style.color for style in styles if style.color} <= allowed
    assert "ansi" not in " ".join(interface(theme).values())


@pytest.mark.parametrize(
    ("theme", "coloured"), [("terminal", True), ("dark", True), ("light", True), ("none", False)]
)
def test_only_the_theme_without_colours_has_none(theme: Theme, coloured: bool) -> None:
    painter = Painter(60, theme)
    shown = "\n".join(
        [*painter.lines(Prose("`code`\n\n```python\ndef f(): return 'x'\n```")), *painter.lines(Text("x", "bad"))]
    )
    assert bool(COLOUR.search(shown)) is coloured


def test_no_color_wins_over_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert preferences({"theme": "dark"}).theme == "dark"
    assert preferences({"theme": "dark"}, no_color=True).theme == "none"
    monkeypatch.setenv("NO_COLOR", "1")
    assert preferences({"theme": "dark"}).theme == "none"


@needs_tmux
def test_a_theme_is_set_by_the_settings_and_changed_at_once(terminal: Open) -> None:
    window = terminal("quick", SCENE_TERMINAL='theme = "dark"')
    assert "38;5;80m>" in window.screen("-e")
    window.type("/theme light")
    window.until("38;5;24m>", "-e")
    window.type("/theme")
    window.until("▸ light")
    window.keys("Down", "Enter")
    window.until("theme none; to keep it")
    last = window.when(lambda shown: shown.count("theme none") == 1, "one", "-e").split("theme none")[-1]
    assert not COLOUR.search(last)


@pytest.mark.parametrize("theme", get_args(Theme))
def test_nothing_but_the_terminal_chooses_the_background(theme: Theme) -> None:
    style = merge_styles([default_ui_style(), InterfaceStyle.from_dict(interface(theme))])
    for name in interface(theme):
        assert style.get_attrs_for_style_str(f"class:{name}").bgcolor in ("", "default"), name
