"""`outlive doctor`: is everything here that an agent needs, and is it healthy?"""

import asyncio
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from typing import Literal

import click
from msgspec import Struct

from outlive import __version__
from outlive.agent.context_window import ASSUMED
from outlive.agent.factory import AgentFactory
from outlive.cli.echo import echo, json_option, print_json
from outlive.clients.setup import TARGETS, applied_before
from outlive.config import Workspace
from outlive.config.dotenv import KEY_VARIABLES, DotEnv
from outlive.config.mcp_servers import McpJson
from outlive.errors import OutliveError
from outlive.memory.doctor import problems as memory_problems
from outlive.memory.memories import Memories
from outlive.models.protocol import Checkable, Model, found_at
from outlive.stores import Stores, open_stores
from outlive.tools.custom_commands import ProjectCommands
from outlive.tools.permissions.fence import protected_paths
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.permissions.trust import grants

State = Literal["ok", "note", "problem"]
MARKS = {"ok": ("✓", "green"), "note": ("·", "yellow"), "problem": ("✗", "red")}

EXTRAS = {
    "anthropic": "httpx2",
    "openai": "openai",
    "terminal": "prompt_toolkit",
    "dense": "onnxruntime",
    "web": "starlette",
    "mcp": "mcp",
    "acp": "acp",
    "postgres": "psycopg",
    "otel": "opentelemetry",
    "keyring": "keyring",
}
"""Extras of commands and the agent, and a module of each."""


class Finding(Struct, frozen=True):
    """The result of one check."""

    check: str
    state: State
    says: str
    remedy: str = ""
    """What to do about it."""


@click.command()
@click.option("--offline", is_flag=True, help="Do not ask the model's server whether it answers.")
@json_option
def doctor(offline: bool, as_json: bool) -> None:
    """Check what an agent needs here: model, window, price, sandbox, trust, stores, packages, other agents.

    The model's server is asked for its list of models, which sends the key and no words. Nothing is changed.

    \b
    Examples:
      outlive doctor
      outlive doctor --offline --json

    \b
    Exit codes: 0 no problem, 1 a problem, 2 wrong usage.
    """
    findings = []
    for finding in _findings(Workspace.find(), offline=offline):
        findings.append(finding)
        if not as_json:
            _show(finding)
    if as_json:
        print_json(findings)
    if any(finding.state == "problem" for finding in findings):
        sys.exit(1)


def _show(finding: Finding) -> None:
    mark, colour = MARKS[finding.state]
    echo(f"{click.style(mark, fg=colour, bold=True)} {finding.check:9} {finding.says}")
    if finding.remedy:
        echo(click.style(f"            {finding.remedy}", dim=True))


def _findings(workspace: Workspace, *, offline: bool) -> Iterator[Finding]:
    yield Finding("version", "ok", f"outlive {__version__}, Python {platform.python_version()}")
    yield Finding("folder", "ok", str(workspace.root))
    yield from _guarded("trust", lambda: _trust(workspace))
    yield from _guarded("model", lambda: _model(workspace, offline=offline))
    yield from _guarded("sandbox", lambda: _sandbox(workspace))
    yield from _guarded("stores", lambda: _stores(workspace))
    yield from _extras()
    yield from _clients()


def _guarded(check: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """What a check finds; an error is a finding, too."""
    try:
        yield from look()
    except OutliveError as error:
        yield Finding(check, "problem", error.message, error.hint)


def _trust(workspace: Workspace) -> Iterator[Finding]:
    dotenv, servers, commands = DotEnv(workspace), McpJson(workspace), ProjectCommands(workspace.root)
    asked = [] if workspace.trusted else grants(workspace)
    asked += [] if dotenv.trusted else [f"{name} in .env" for name in dotenv.asks]
    asked += [] if servers.trusted else [f"MCP server {name} of {servers.path.name}" for name in servers.servers]
    asked += [] if commands.trusted else [f"command /{name}" for name in commands.commands]
    if asked:
        yield Finding(
            "trust", "note", f"not trusted, so ignored: {'; '.join(asked)}", "look at it, then: outlive trust"
        )
    else:
        yield Finding("trust", "ok", "nothing here waits for your trust")


def _model(workspace: Workspace, *, offline: bool) -> Iterator[Finding]:
    with closing(AgentFactory(workspace)) as factory:
        model = factory.resolve_model()
        window = factory.context_window(model)
        yield from _reached(model, offline=offline)
        yield from _key(factory, model)
    yield Finding(
        "window", "note" if window.origin == ASSUMED else "ok", f"{window.tokens:,} tokens, {window.origin}"
    )
    if model.price is None:
        yield Finding("price", "note", f"the price of {model.name} is not known, so limits in dollars do not hold")
    else:
        price = model.price
        yield Finding("price", "ok", f"${price.input:g} in, ${price.output:g} out for a million tokens")


def _key(factory: AgentFactory, model: Model) -> Iterator[Finding]:
    """Where the key for the model comes from; a local server needs none."""
    environment = factory.dotenv.environment()
    names = [name for name in KEY_VARIABLES if name.lower().startswith(model.name.partition(":")[0])]
    if name := next((name for name in names if name in factory.keyring), ""):
        yield Finding("key", "ok", f"{name} from the system's keyring")
    elif name := next((name for name in names if environment.get(name)), ""):
        origin = "the environment" if os.environ.get(name) else str(factory.dotenv.path)
        yield Finding("key", "ok", f"{name} from {origin}")


def _reached(model: Model, *, offline: bool) -> Iterator[Finding]:
    async def ask() -> None:
        try:
            if not offline and isinstance(model, Checkable):
                await model.check()
        finally:
            await model.close()

    asyncio.run(ask())
    where = f", found on this machine: {found_at(model)}" if found_at(model) else ""
    yield Finding("model", "ok", f"{model.name}{where}{'' if offline else ', and its server answers'}")


def _sandbox(workspace: Workspace) -> Iterator[Finding]:
    problem = Sandbox(workspace.root, (), on=True, protected=protected_paths(workspace)).problem()
    if problem:
        yield Finding("sandbox", "note", f"not available: {problem}", "on Debian and Ubuntu: apt install bubblewrap")
    else:
        yield Finding("sandbox", "ok", "works; --sandbox uses it")


def _stores(workspace: Workspace) -> Iterator[Finding]:
    with open_stores(**workspace.store) as stores:
        yield from _store("tasks", [(one.what, one.harmless) for one in stores.tasks.check()], "outlive task doctor")
        yield from _logs(stores)
    with closing(Memories.open(**workspace.store, heal=False)) as memories:
        found = [(one.what, one.harmless) for one in memory_problems(memories)]
        yield from _store("memories", found, "outlive memory doctor")


def _store(what: str, found: list[tuple[str, bool]], remedy: str) -> Iterator[Finding]:
    bad = [says for says, harmless in found if not harmless]
    if bad:
        yield Finding(what, "problem", f"{len(bad)} problems, the first: {bad[0]}", f"see all: {remedy}")
    else:
        yield Finding(what, "ok", "healthy")


def _logs(stores: Stores) -> Iterator[Finding]:
    sessions = stores.logs.sessions()
    if left_out := stores.logs.left_out():
        yield Finding("sessions", "problem", f"{len(left_out)} cannot be read, the first: {left_out[0]}")
    else:
        yield Finding("sessions", "ok", f"{len(sessions):,} in {stores.logs.url}")


def _extras() -> Iterator[Finding]:
    missing = [extra for extra, module in EXTRAS.items() if find_spec(module) is None]
    if missing:
        install = f"pip install 'outlive[{','.join(missing)}]'"
        yield Finding("packages", "note", f"optional parts that are not installed: {', '.join(missing)}", install)
    else:
        yield Finding("packages", "ok", "all optional parts are installed")


def _clients() -> Iterator[Finding]:
    for target in TARGETS.values():
        if not target.found() and not applied_before(target.name):
            continue
        if not applied_before(target.name):
            remedy = f"to use outlive inside of it: outlive init {target.name}"
            yield Finding("client", "note", f"{target.title} is here, without outlive", remedy)
        elif target.changes():
            yield Finding(
                "client", "note", f"{target.title}: what is set up is outdated", f"outlive init {target.name}"
            )
        else:
            yield Finding("client", "ok", f"{target.title} is set up")
