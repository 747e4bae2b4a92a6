"""Colours by theme: of rendered lines, of code, and of the parts that prompt_toolkit draws.

`dark` and `light` use the fixed part of the 256-colour palette: the first 16 colours are the terminal's choice.
"""

from functools import cache

from rich.style import Style
from rich.syntax import ANSI_DARK, ANSISyntaxTheme, Syntax, SyntaxTheme
from rich.theme import Theme

from outlive.cli.chat.preferences import Theme as ThemeName

PALETTES: dict[str, dict[str, str]] = {
    "terminal": {"accent": "cyan", "good": "green", "bad": "red", "warn": "yellow", "quiet": "dim"},
    "dark": {
        "accent": "color(80)",
        "good": "color(114)",
        "bad": "color(210)",
        "warn": "color(221)",
        "quiet": "color(247)",
    },
    "light": {
        "accent": "color(24)",
        "good": "color(22)",
        "bad": "color(124)",
        "warn": "color(94)",
        "quiet": "color(240)",
    },
}
_NAMES = {
    "accent": ("accent", "markdown.code", "markdown.item.bullet", "markdown.item.number"),
    "good": ("good", "added"),
    "bad": ("bad", "removed"),
    "warn": ("warn",),
    "quiet": ("quiet", "markdown.link_url", "markdown.block_quote", "markdown.hr", "markdown.table.border"),
}
_WEIGHTS = {
    "bold": ("strong", "markdown.h1", "markdown.h2", "markdown.h3", "markdown.table.header"),
    "bold dim": ("markdown.h4",),
    "underline": ("markdown.link",),
}
_CODE = {"green": "good", "red": "bad", "yellow": "warn", "magenta": "warn"}
"""The colours of code in `ansi_dark` of rich, and the styles that take their place; the others are accents."""


def palette(theme: str) -> dict[str, str]:
    """The colours of a theme; those of the terminal for a theme without colours, which are taken away later."""
    return PALETTES.get(theme, PALETTES["terminal"])


@cache
def styles(theme: str) -> Theme:
    """The styles of rendered lines."""
    colours = palette(theme)
    found = {name: colours[kind] for kind, names in _NAMES.items() for name in names}
    return Theme(found | {name: weight for weight, names in _WEIGHTS.items() for name in names})


@cache
def code_theme(theme: str) -> SyntaxTheme:
    """The colours of code."""
    if theme not in ("dark", "light"):
        return Syntax.get_theme("ansi_dark")
    colours = palette(theme)
    return ANSISyntaxTheme({token: _code_style(style, colours) for token, style in ANSI_DARK.items()})


def _code_style(style: Style, colours: dict[str, str]) -> Style:
    if style.color is None:
        return Style.parse(colours["quiet"]) if style.dim else style
    kind = _CODE.get(style.color.name.removeprefix("bright_"), "accent")
    return Style.parse(colours[kind]) + Style(bold=style.bold, italic=style.italic, underline=style.underline)


def interface(theme: ThemeName) -> dict[str, str]:
    """The styles of the parts that prompt_toolkit draws, in its own words."""
    colours = palette(theme)
    accent, quiet = _in_toolkit(colours["accent"]), _in_toolkit(colours["quiet"])
    return {
        "prompt": accent,
        "prompt.busy": f"fg:default {quiet}",
        "rows": "fg:default",
        "rows.meta": quiet,
        "rows.current": f"{accent} bold",
        "search-toolbar": quiet,
    }


def _in_toolkit(style: str) -> str:
    """A style of rich as prompt_toolkit writes it."""
    colour = Style.parse(style).color
    if colour is None:
        return style
    return (
        f"ansi{colour.name}"
        if colour.name.isalpha()
        else f"#{''.join(f'{part:02x}' for part in colour.get_truecolor())}"
    )
