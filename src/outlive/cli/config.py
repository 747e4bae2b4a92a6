"""`outlive config`: every setting, its value, where that comes from and what it means."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import click
from msgspec import Struct

from outlive.cli.echo import echo, json_option, print_json
from outlive.config import Workspace, home
from outlive.config.dotenv import DotEnv
from outlive.config.settings import SETTINGS, Setting
from outlive.config.workspace import SETTINGS as SETTINGS_FILE
from outlive.secrets import mask, mask_value
from outlive.tools.permissions.trust import counting, remembered

ALWAYS_COUNT = ("context", "memory")
"""Sections of a project's file that grant nothing, so they count without trust."""
DEFAULT_ORIGIN = "default"


class ConfigRow(Struct, frozen=True):
    """A setting as it is here."""

    key: str
    value: Any
    origin: str
    """`default`, a file, or an environment variable; several for lists."""
    takes: str
    about: str
    option: str
    ignored: Any = None
    """The value of a project's file that does not count, because the file is not trusted."""


@click.command()
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--changed", is_flag=True, help="Only what differs from the default.")
@json_option
def config(keys: tuple[str, ...], changed: bool, as_json: bool) -> None:
    """Show every setting: its value here, where that comes from, and what it means.

    Values come from, the last wins: the default, ~/.outlive/outlive.toml, the project's outlive.toml (what grants
    something only after `outlive trust`), and the options of a command. KEY is a setting or a section.

    \b
    Examples:
      outlive config
      outlive config agent.model context
      outlive config --changed
      outlive config --json | jq -r '.[] | select(.key == "store.url").value'

    \b
    Exit codes: 0 done, 1 refused (settings that cannot be read), 2 wrong usage.
    """
    rows = list(config_rows(Workspace.find()))
    settings = [row.key for row in rows]
    sections = {key.partition(".")[0] for key in settings}
    if unknown := [key for key in keys if key not in sections.union(settings)]:
        meant = _similar(unknown[0], [*settings, *sorted(sections)])
        hint = f"did you mean {' or '.join(meant)}?" if meant else "they are listed by: outlive config"
        raise click.UsageError(f"{unknown[0][:100]!r} is not a setting; {hint}")
    rows = [row for row in rows if not keys or row.key in keys or row.key.partition(".")[0] in keys]
    rows = [row for row in rows if not changed or row.origin != DEFAULT_ORIGIN or row.ignored is not None]
    if as_json:
        print_json(rows)
        return
    for number, row in enumerate(rows):
        if number:
            echo("")
        _show(row)


def _similar(key: str, known: Sequence[str]) -> list[str]:
    """The settings and sections that may be meant: the same name in any section, else names like it."""
    from difflib import get_close_matches

    by_name: dict[str, list[str]] = {}
    for place in known:
        by_name.setdefault(place.rpartition(".")[2], []).append(place)
    wanted = key[:100].lower().replace("-", "_")
    name = wanted.rpartition(".")[2]
    close = get_close_matches(wanted, known, n=1, cutoff=0.8)
    return by_name.get(name) or close or by_name.get(next(iter(get_close_matches(name, by_name, n=1)), ""), [])


def _show(row: ConfigRow) -> None:
    value = "(not set)" if row.value is None else _text(row.value)
    origin = "" if row.origin == DEFAULT_ORIGIN else click.style(f"  from {row.origin}", fg="cyan")
    echo(f"{click.style(row.key, bold=True)} = {value}{origin}")
    if row.ignored is not None:
        warning = f"  {_text(row.ignored)} in the project's {SETTINGS_FILE} does not count: it is not trusted"
        echo(click.style(warning, fg="yellow"))
    option = f"; option {row.option}" if row.option else ""
    echo(click.style(f"  {row.about} Takes {row.takes}{option}", dim=True))


def _text(value: Any) -> str:
    """A value as it is written in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def config_rows(workspace: Workspace) -> Iterator[ConfigRow]:
    """All settings as they are in a workspace."""
    mine, (theirs, _) = Workspace.read(home()), counting(workspace)
    variables = DotEnv(workspace).environment()
    for setting in SETTINGS:
        source = workspace if setting.section in ALWAYS_COUNT else theirs
        files = [(str(mine.file), _values(mine, setting)), (str(workspace.file), _values(source, setting))]
        found = [(origin, values[setting.key]) for origin, values in files if setting.key in values]
        if setting.section == "permissions":
            row = _joined(setting, found, workspace)
        elif setting.variable in variables and (setting.variable_wins or not found):
            shown = setting.variable if setting.variable in os.environ else f"{setting.variable} in .env"
            row = _row(setting, variables[setting.variable], shown)
        else:
            row = _row(setting, *found[-1][::-1]) if found else _row(setting, setting.default, DEFAULT_ORIGIN)
        wanted = _values(workspace, setting).get(setting.key)
        if not workspace.trusted and wanted is not None and setting.key not in _values(source, setting):
            row = _ignoring(row, wanted)
        yield row


def _values(workspace: Workspace, setting: Setting) -> Any:
    if setting.section == "store":
        url = {"url": workspace.named} if workspace.names_store else {}
        return url | ({"durability": workspace.durability} if workspace.durability != "full" else {})
    return getattr(workspace, setting.section)


def _joined(setting: Setting, found: list[tuple[str, Any]], workspace: Workspace) -> ConfigRow:
    """Rules of all files hold together, and those that the user always allows."""
    if setting.key == "allow" and (always := remembered(workspace.project)):
        found = [*found, ("what you always allow here", list(always))]
    rules = [rule for _, values in found for rule in values]
    return _row(setting, rules, ", ".join(origin for origin, values in found if values) or DEFAULT_ORIGIN)


def _row(setting: Setting, value: Any, origin: str) -> ConfigRow:
    value = mask_value(value, by=mask)
    return ConfigRow(setting.name, value, origin, setting.takes, setting.about, setting.option)


def _ignoring(row: ConfigRow, wanted: Any) -> ConfigRow:
    return ConfigRow(row.key, row.value, row.origin, row.takes, row.about, row.option, mask_value(wanted, by=mask))
