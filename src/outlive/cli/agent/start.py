"""Start an agent from the command-line options."""

import gc
import os
import select
import stat
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from outlive.agent.attachments.attaching import Attachments
from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.agent.runtime import Runtime
from outlive.cli.agent.options import CHOOSE
from outlive.cli.chat.preferences import Preferences, preferences
from outlive.cli.session.common import open_store, resolved
from outlive.config import Workspace
from outlive.config.git import main_checkout
from outlive.messages import Text
from outlive.models.resolve import SWITCH
from outlive.origin import tagged
from outlive.printable import clean
from outlive.stores.logs.names import is_followed, is_subagent
from outlive.stores.logs.protocol import LogStore, SessionInfo
from outlive.tools.permissions.asking import Asker
from outlive.tools.permissions.trust import terminal_settings

STDIN_WAIT_SECONDS = 1.0
"""Seconds to wait for the first text on a pipe."""
DEFAULT_TURNS = 500
"""Requests of a headless run if nobody set a limit: nobody watches it."""
MAX_PROMPT_CHARS = 10_000_000
"""Characters."""


def start(
    *,
    prompt: str | None = None,
    first: str | None = None,
    output_format: str | None = None,
    include_partial: bool = False,
    continued: bool = False,
    resume: str | None = None,
    rescued: str | None = None,
    store: str | None = None,
    plain: bool = False,
    no_color: bool = False,
    **options: Any,
) -> int:
    """Run the agent, headless with `prompt`, else in the terminal, where `first` is said first; returns the exit
    code."""
    if prompt is not None and first is not None:
        raise click.UsageError(f"-p has a prompt already, so {first[:60]!r} is one too many")
    if first is not None and not sys.stdin.isatty():
        raise click.UsageError("there is no terminal here; without one a prompt goes behind -p: outlive -p PROMPT")
    workspace = Workspace.find(store=store)
    if sum((continued, resume is not None, rescued is not None)) > 1:
        raise click.UsageError("--continue, --resume and --from name a session each; give one of them")
    wanted = preferences(terminal_settings(workspace), plain=plain, no_color=no_color)
    if resume == CHOOSE:
        if prompt is not None or not sys.stdin.isatty():
            raise click.UsageError("--resume needs an ID here; they are listed by: outlive session list")
        resume = _chosen(workspace, store, wanted)
        if resume is None:
            return 0
    session = _session(workspace, store, resume) if continued or resume is not None else None
    if rescued is not None:
        from outlive.cli.rescue import kept

        session = kept(rescued, store)
    if session is not None and resume is not None:
        workspace = _moved(workspace, session)
    words = () if prompt is None else _prompt(prompt, going_on=session is not None)
    default_turns = DEFAULT_TURNS if prompt is not None else None
    with closing(AgentFactory(workspace, AgentOptions(**options, default_turns=default_turns))) as factory:
        if prompt is None:
            return open_chat(factory, workspace, session, first or "", wanted)
        from outlive.cli.agent.headless import run_headless

        agent = factory.open(session)
        agent.attachments = Attachments(agent)
        _keep_files(factory, agent)
        settle()
        return run_headless(agent, words, output_format or "text", partial=include_partial)


def _moved(workspace: Workspace, session: str) -> Workspace:
    """The workspace with the files of a session that comes from another machine."""
    if not workspace.store_url.startswith("postgres"):
        return workspace
    from outlive.work.handover import with_files

    there, notice = with_files(workspace, session)
    if notice:
        click.echo(clean(notice), err=True)
    return there


def _keep_files(factory: AgentFactory, agent: Runtime) -> None:
    """Store the files of the session for other machines, if the user wants that."""
    if factory.settings.agent.get("handover") and factory.workspace.store_url.startswith("postgres"):
        from outlive.work.handover import keep_files

        keep_files(agent, factory.workspace)


def settle() -> None:
    """Exempt all current objects (modules, session history) from garbage collection: scanning them takes 0.1 s.

    Garbage of an earlier session of this process is collected first.
    """
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
    gc.freeze()


def _ask_about_server(factory: AgentFactory) -> None:
    """Ask whether to use a model server that was found on this machine; nothing is sent to it without a yes."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    if model := factory.offered_model():
        click.echo(
            f"No model is set up. {model.server} seems to listen at {model.address}, with {clean(model.name)}."
        )
        if click.confirm("Send what you say to it?", default=False):
            os.environ[SWITCH] = "on"
            click.echo(f"To be asked no more: export {SWITCH}=on, or name a model: export MODEL_ID=openai:NAME")


def open_chat(
    factory: AgentFactory,
    workspace: Workspace,
    session: str | None,
    first: str,
    wanted: Preferences,
    *,
    take_over: bool = False,
) -> int:
    """Talk in the terminal; with `take_over`, a process that has the session open can no longer write to it."""
    from outlive.cli.chat import chat
    from outlive.cli.chat.picker.catalog import catalog

    _ask_about_server(factory)

    def open_agent(session: str | None, asker: Asker) -> Runtime:
        agent = factory.open(session, asker=asker, take_over=take_over and session is not None)
        _keep_files(factory, agent)
        settle()
        return agent

    return chat(
        open_agent,
        store=factory.logs,
        root=workspace.root,
        session=session,
        first=first,
        choose=factory.resolve_model,
        catalog=lambda: catalog(factory.environment(), factory.named_models()),
        preferences=wanted,
    )


def _session(workspace: Workspace, url: str | None, wanted: str | None) -> str:
    """The session to resume: the wanted one, else the newest of this folder."""
    with open_store(url) as store:
        if wanted is not None:
            return resolved(store, wanted)
        found = _sessions_here(store, workspace)
        if not found:
            raise click.UsageError("--continue: there is no session in this folder yet; leave it out to begin one")
        return next((info for info in found if not info.unused), found[0]).id


def _chosen(workspace: Workspace, url: str | None, wanted: Preferences) -> str | None:
    """The session that the user chooses from the list; None if the user leaves the list."""
    from outlive.cli.chat import choose_session

    with open_store(url) as store:
        found = [info for info in _sessions_here(store, workspace) if not info.unused]
        if not found:
            raise click.UsageError("--resume: there is no session in this folder yet; leave it out to begin one")
        return choose_session(store, found, wanted)


def _sessions_here(store: LogStore, workspace: Workspace) -> list[SessionInfo]:
    """The conversations of this folder, the newest first."""
    return [
        info
        for info in store.sessions()
        if not (info.replay or is_subagent(info.id) or is_followed(info.id) or _elsewhere(info.folder, workspace))
    ]


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
    if not select.select([0], [], [], STDIN_WAIT_SECONDS)[0]:
        click.echo("nothing came on standard input; going on without it (-p - waits for it)", err=True)
        return ""
    return _stdin()


def _stdin() -> str:
    text = sys.stdin.read(MAX_PROMPT_CHARS + 1)
    if len(text) > MAX_PROMPT_CHARS:
        raise click.UsageError(
            f"standard input has more than {MAX_PROMPT_CHARS:,} characters; put it into a file and name the file"
        )
    return text
