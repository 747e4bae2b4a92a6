"""Start an agent from the command-line options."""

import gc
import os
import select
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.agent.runtime import Runtime
from outlive.cli.session.common import open_store, resolved
from outlive.config import Workspace
from outlive.config.git import main_checkout
from outlive.messages import Text
from outlive.origin import tagged
from outlive.stores.logs.names import is_subagent
from outlive.tools.permissions.asking import Asker

STDIN_PATIENCE = 1.0
"""Seconds to wait for the first text on a pipe."""
LONGEST_PROMPT = 10_000_000
"""Characters."""


def start(options: Mapping[str, Any]) -> int:
    """Run the agent, headless with a prompt, else in the terminal; returns the exit code."""
    workspace = Workspace.find(store=options["store"])
    chosen = AgentOptions(
        model=options["model"],
        fallback=options["fallback_model"],
        mode=options["permission_mode"],
        window=options["context_window"],
        policy=options["policy"],
        allow=options["allow"],
        deny=options["deny"],
        add_dirs=options["add_dir"],
        sandbox=options["sandbox"],
        network=options["network"],
        max_turns=options["max_turns"],
        max_cost=options["max_cost"],
        max_tokens=options["max_tokens"],
        max_time=options["max_time"],
        orphans=options["orphans"],
    )
    session = _session(workspace, options)
    if options["prompt"] is None:
        return _chat(workspace, chosen, session)
    prompt = _prompt(options["prompt"], going_on=session is not None)
    from outlive.cli.agent.headless import run_headless

    opener = AgentFactory(workspace, chosen)
    form = options["output_format"] or "text"
    try:
        agent = opener.open(session)
        settle()
        return run_headless(agent, prompt, form, partial=options["include_partial"])
    finally:
        opener.close()


def settle() -> None:
    """Exempt all current objects (modules, session history) from garbage collection: scanning them takes 0.1 s.

    Garbage of an earlier session of this process is collected first.
    """
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
    gc.freeze()


def resume(session: str, store: str | None) -> int:
    """Resume a session in the terminal; returns the exit code."""
    with open_store(store) as opened:
        wanted = resolved(opened, session)
    return _chat(Workspace.find(store=store), AgentOptions(), wanted)


def _chat(workspace: Workspace, options: AgentOptions, session: str | None) -> int:
    from outlive.cli.chat import chat

    opener = AgentFactory(workspace, options)

    def open_agent(session: str | None, asker: Asker) -> Runtime:
        agent = opener.open(session, asker=asker)
        settle()
        return agent

    try:
        return chat(open_agent, store=opener.logs, root=workspace.root, session=session, choose=opener.choose)
    finally:
        opener.close()


def _session(workspace: Workspace, options: Mapping[str, Any]) -> str | None:
    """Return the session to resume, if any."""
    if not options["continued"] and options["resume"] is None:
        return None
    with open_store(options["store"]) as store:
        if options["resume"] is not None:
            return resolved(store, options["resume"])
        found = [
            info
            for info in store.sessions()
            if not info.replay and not is_subagent(info.id) and not _elsewhere(info.folder, workspace)
        ]
        if not found:
            raise click.UsageError("--continue: there is no session in this folder yet; leave it out to begin one")
        return next((info for info in found if not info.unused), found[0]).id


def _elsewhere(folder: str, workspace: Workspace) -> bool:
    """Whether a session began in another worktree that shares this store; `--continue` skips those."""
    if not folder or Path(folder) == workspace.root:
        return False
    return Path(folder) == workspace.project or main_checkout(Path(folder))[0] == workspace.project


def _prompt(words: str, *, going_on: bool) -> tuple[Text, ...]:
    piped = "" if words == "-" else _piped()
    words = _stdin() if words == "-" else words
    found = (Text(words, "user"), Text(tagged("stdin", f"\n{piped}\n") if piped else "", "stdin"))
    prompt = tuple(text for text in found if text.text.strip())
    if not prompt and not going_on:
        raise click.UsageError('-p: the prompt is empty; "" only makes sense with --continue or --resume')
    return prompt


def _piped() -> str:
    """Return the text piped in besides the prompt; gives up on a pipe that stays silent."""
    try:
        kind = os.fstat(0).st_mode
    except OSError:
        return ""
    if stat.S_ISREG(kind):
        return _stdin()
    if not stat.S_ISFIFO(kind):
        return ""
    if not select.select([0], [], [], STDIN_PATIENCE)[0]:
        click.echo("nothing came on standard input; going on without it (-p - waits for it)", err=True)
        return ""
    return _stdin()


def _stdin() -> str:
    text = sys.stdin.read(LONGEST_PROMPT + 1)
    if len(text) > LONGEST_PROMPT:
        raise click.UsageError(
            f"standard input has more than {LONGEST_PROMPT:,} characters; put it into a file and name the file"
        )
    return text
