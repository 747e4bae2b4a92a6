"""`outlive where`: which folder, which stores and which settings files count here, and why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from outlive.cli.echo import echo, json_option, print_json
from outlive.config import Workspace, home
from outlive.config.dotenv import DotEnv
from outlive.config.mcp_servers import ConfiguredServer, configured_servers
from outlive.config.workspace import SETTINGS
from outlive.errors import ConfigError
from outlive.secrets import mask
from outlive.stores.locations import places
from outlive.tools.custom_commands import ProjectCommands
from outlive.tools.permissions.fence import HARNESS_PATHS
from outlive.tools.permissions.trust import grants


@click.command()
@json_option
def where(as_json: bool) -> None:
    """Say which folder outlive works in here, where its stores are, and which settings files and MCP servers count,
    and why.

    A linked git worktree uses the stores, the outlive.toml and the trust of its main checkout, unless it has an
    outlive.toml of its own; a submodule is a workspace of its own.

    \b
    Examples:
      outlive where
      outlive where --json | jq -r .store.tasks

    \b
    Exit codes: 0 done, 1 refused (a bare repository, settings that cannot be read), 2 wrong usage.
    """
    workspace = Workspace.find()
    found = {
        "workspace": str(workspace.root),
        "project": str(workspace.project),
        "linked": workspace.linked,
        "store": _store(workspace),
        "settings": [{"file": str(path), "counts": counts, "why": why} for path, counts, why in _settings(workspace)],
        "mcp": list(map(_server, configured_servers(workspace))),
        "unused": _unused(workspace),
        "home": str(home()),
    }
    if as_json:
        print_json(found)
    else:
        _show(found)


def _store(workspace: Workspace) -> dict[str, Any]:
    """Describe the store: its URL, its paths, and the `problem` if it may not be used."""
    url = workspace.chosen or workspace.named
    source = "OUTLIVE_STORE" if workspace.chosen else str(workspace.file) if workspace.names_store else "default"
    problem = ""
    try:
        found = {what: str(path) for what, path in places(workspace.store_url, workspace.base).items()}
    except ConfigError as error:
        found, problem = {}, str(error)
    return {"url": mask(url), "from": source, "problem": problem, **found}


def _settings(workspace: Workspace) -> Iterator[tuple[Path, str, str]]:
    """Yield the settings files: whether each counts (yes, in part, no), and why."""
    if (home() / SETTINGS).exists():
        yield home() / SETTINGS, "yes", "your own, for all projects"
    if workspace.digest:
        yield workspace.file, *_outlive_toml(workspace)
    dotenv = DotEnv(workspace)
    if dotenv.variables:
        yield dotenv.path, *_dotenv(dotenv)
    commands = ProjectCommands(workspace.root)
    for place in commands.places:
        if commands.trusted:
            yield workspace.root / place, "yes", "you have trusted the commands in it as they are now"
        else:
            yield workspace.root / place, "no", "its commands are not trusted. Look at them, then: outlive trust"


def _outlive_toml(workspace: Workspace) -> tuple[str, str]:
    if workspace.trusted:
        return "yes", "you have trusted it as it is now"
    asked = grants(workspace)
    if not asked:
        return "yes", "it asks for nothing that needs trust"
    return "in part", f"not trusted, so this does not count: {'; '.join(asked)}. Look at it, then: outlive trust"


def _dotenv(dotenv: DotEnv) -> tuple[str, str]:
    if not dotenv.asks:
        return "no", "it says nothing about a model"
    if dotenv.trusted:
        return "yes", f"you have trusted what it says about the model: {', '.join(dotenv.asks)}"
    return "no", f"not trusted: {', '.join(dotenv.asks)}. Look at it, then: outlive trust"


def _server(configured: ConfiguredServer) -> dict[str, Any]:
    about = configured.server.described()
    return {
        "server": configured.name,
        "is": about,
        "file": configured.source,
        "counts": configured.counts,
        "why": configured.why,
    }


def _unused(workspace: Workspace) -> list[str]:
    """List stores and settings of a linked worktree that are ignored in favour of the main checkout's."""
    if workspace.root == workspace.project:
        return []
    return [str(path) for name in HARNESS_PATHS if name != ".outlive" and (path := workspace.root / name).exists()]


def _show(found: dict[str, Any]) -> None:
    store = dict(found["store"])
    url, source, problem = store.pop("url"), store.pop("from"), store.pop("problem")
    linked = f" ({found['linked']})" if found["linked"] else ""
    echo(f"workspace  {found['workspace']}{linked}")
    origin = "the default" if source == "default" else f"from {source}"
    echo(f"store      {url} ({origin})")
    for what, path in store.items():
        echo(f"  {what:8} {path}")
    if problem:
        echo(f"  {click.style('refused:', fg='red')} {problem}")
    for label, item in zip(["settings"] + [""] * len(found["settings"]), found["settings"], strict=False):
        echo(f"{label:10} {item['file']}: {item['counts']}, {item['why']}")
    for label, server in zip(["mcp"] + [""] * len(found["mcp"]), found["mcp"], strict=False):
        counts = "yes" if server["counts"] else "no"
        echo(f"{label:10} {server['server']}, {server['is']}: {counts}, {server['why']} ({server['file']})")
    if found["unused"]:
        echo(f"not used   {', '.join(found['unused'])}")
    echo(f"home       {found['home']}")
