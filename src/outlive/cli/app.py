"""The `outlive` command. Subcommands are imported on use, to keep the start fast."""

import atexit
import os
import sys
from typing import Any

import click

from outlive import __version__
from outlive.cli.agent.first_prompt import KEY, PromptGroup
from outlive.cli.agent.options import run_options
from outlive.cli.output import OutputFailed, failed
from outlive.errors import OutliveError
from outlive.printable import clean


@click.group(
    cls=PromptGroup,
    commands_in={
        "task": ("outlive.cli.task:task", "A graph of tasks that many processes, agents and machines share."),
        "work": ("outlive.cli.fleet.work:work", "Take ready tasks and do them: a worker of the fleet."),
        "fleet": ("outlive.cli.fleet.fleet:fleet", "What workers do; answer, drain, cancel, retry, budgets."),
        "attach": ("outlive.cli.fleet.attach:attach", "Watch the session of a task, or take it over."),
        "replay": ("outlive.cli.replay.command:replay", "Play a recorded session through the context engine."),
        "recall": ("outlive.cli.recall:recall", "Print the exact text behind a handle, or search sessions."),
        "session": ("outlive.cli.session:session", "Look at sessions, fork them, take passes back."),
        "resume": ("outlive.cli.agent.resume:resume", "Go on with a session of this folder or of another agent."),
        "rescue": ("outlive.cli.rescue:rescue", "What a session of another agent was about, and how to go on."),
        "init": ("outlive.cli.init:init", "Put outlive into Claude Code, Codex or another agent, or take it out."),
        "memory": ("outlive.cli.memory:memory", "What was learned, across sessions and projects."),
        "trust": (
            "outlive.cli.trust:trust_command",
            "Let a project's outlive.toml and .env count, once you looked at them.",
        ),
        "mcp": ("outlive.mcp.command:mcp", "Serve sessions, tasks and memories to other agents, over MCP."),
        "serve": ("outlive.cli.serve:serve", "Make requests for pi and opencode: their plugins ask here."),
        "where": ("outlive.cli.where:where", "Which folder, stores and settings files count here, and why."),
        "config": ("outlive.cli.config:config", "Every setting: its value, where that comes from, what it means."),
        "doctor": ("outlive.cli.doctor:doctor", "Check model, window, sandbox, trust, stores and packages."),
        "acp": ("outlive.acp.command:acp", "Work inside of an editor that speaks the Agent Client Protocol."),
        "web": ("outlive.web.command:web", "Show sessions, context, tasks and memories in the browser."),
        "learn": ("outlive.web.command:learn", "Three lessons in the browser, on the real engine."),
        "demo": ("outlive.cli.demo:demo", "Watch an agent outgrow its window and survive a kill -9. No key."),
        "completion": ("outlive.cli.completion:completion", "Print the completion script of your shell."),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="outlive")
@click.option(
    "-C",
    "directory",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Work in this folder instead of the current one.",
)
@run_options
@click.pass_context
def cli(ctx: click.Context, /, directory: str | None, **options: Any) -> None:
    """An agent whose work outlives the conversation. Without a command it opens a session in this folder.

    \b
    Examples:
      outlive                                   work with the agent in the terminal
      outlive "fix the failing test"            the same, with a first prompt (one word: outlive -- hello)
      outlive --continue                        go on where you were, be it after a crash
      outlive -p "fix the failing test" --permission-mode accept-edits --allow "bash(pytest*)"
      git diff | outlive -p "review this" --permission-mode plan
      outlive demo                              see it work, without a key
      outlive task create "Write the parser"    start a graph in this folder
      outlive task ready                        what can be done now
    """
    ctx.color = _colour()
    if directory:
        os.chdir(directory)
    if ctx.invoked_subcommand is None:
        from outlive.cli.agent.start import start

        ctx.exit(start(first=ctx.meta.get(KEY), **options))
    elif used := [_name(ctx, name) for name, value in options.items() if value not in (None, (), False)]:
        raise click.UsageError(f"{', '.join(used)}: for the agent, not for {ctx.invoked_subcommand!r}", ctx)


def _name(ctx: click.Context, parameter: str) -> str:
    """An option as the user writes it."""
    return next("/".join(option.opts) for option in ctx.command.params if option.name == parameter)


def _colour() -> bool | None:
    """False if the user wants no colours (no-color.org), else None: click decides by the terminal."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def run() -> None:
    """Run the command and end the process. An OutliveError prints one message and exits with code 1."""
    try:
        code = _run()
        sys.stdout.flush()
    except OutputFailed as error:
        code = failed(error)
    if "onnxruntime" in sys.modules:
        # Tearing down the embedding model takes a tenth of a second, and the system frees its memory anyway.
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _run() -> int:
    try:
        return cli(prog_name="outlive", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    except OutliveError as error:
        from outlive.cli.flags import shown

        message = f"{click.style('refused:', fg='red', bold=True)} {clean(shown(error))}"
        click.echo(message, err=True, color=_colour())
        return 1
