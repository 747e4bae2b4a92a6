"""The options of `outlive` itself: what to work on, in which session; and those of the agent."""

import click

from outlive.options import agent_options, together

CHOOSE = "?"
"""The value of --resume without an ID: the user chooses from a list."""
_headless_options = together(
    click.option(
        "-p",
        "--print",
        "prompt",
        metavar="PROMPT",
        help='Work on PROMPT without a terminal, print the answer and end. "-" reads it from standard input; '
        'with --continue or --resume, "" goes on where the session stopped.',
    ),
    click.option(
        "--output-format", type=click.Choice(["text", "json", "stream-json"]), help="What -p prints.  [default: text]"
    ),
    click.option("--include-partial", is_flag=True, help="stream-json: also words and output as they arrive."),
)
_terminal_options = together(
    click.option("--plain", is_flag=True, help="Only lines of text in the terminal, for screen readers."),
    click.option("--no-color", is_flag=True, help="No colours in the terminal; so does the variable NO_COLOR."),
)
_from_option = click.option(
    "--from",
    "rescued",
    metavar="FILE|ID",
    help="Go on with a session of Claude Code, Codex, pi or opencode: its transcript, or how its id begins "
    "(see rescue).",
)
run_options = together(
    _headless_options,
    click.option("-c", "--continue", "continued", is_flag=True, help="Go on with the newest session of this folder."),
    click.option(
        "-r",
        "--resume",
        is_flag=False,
        flag_value=CHOOSE,
        metavar="[ID]",
        help="Go on with this session (its id, how that begins, or the short one that is shown); without ID, choose "
        "from a list.",
    ),
    _from_option,
    _terminal_options,
    agent_options,
)
resume_options = together(_headless_options, _from_option, _terminal_options, agent_options)
"""The same for `outlive resume`, which names the session by an argument."""
