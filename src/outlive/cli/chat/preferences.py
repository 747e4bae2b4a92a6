"""How the user wants the terminal: the settings of `[terminal]`, and the options that win over them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from outlive.config.settings import DEFAULT_STATUS

Theme = Literal["terminal", "dark", "light", "none"]
"""`terminal`: its own 16 colours. `none`: bold and dim, no colours."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The settings of `[terminal]`; docs/settings.md describes them."""

    keys: Literal["emacs", "vim"] = "emacs"
    theme: Theme = "terminal"
    notify: Literal["off", "bell", "desktop"] = "bell"
    title: bool = True
    status: tuple[str, ...] = DEFAULT_STATUS
    plain: bool = False


DEFAULTS = Preferences()


def preferences(settings: Mapping[str, Any], *, plain: bool = False, no_color: bool = False) -> Preferences:
    """The preferences of checked settings and of the options of the command line."""
    wanted = dict(settings)
    if "status" in wanted:
        wanted["status"] = tuple(wanted["status"])
    if plain:
        wanted["plain"] = True
    if no_color or os.environ.get("NO_COLOR"):
        wanted["theme"] = "none"
    return Preferences(**wanted)
