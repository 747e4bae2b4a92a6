"""export."""

from pathlib import Path

import click

from outlive.cli.echo import echo_exact, named_output
from outlive.cli.session.common import command, say_damage, session_argument
from outlive.events import encode
from outlive.stores.logs.protocol import LogStore
from outlive.stores.logs.reading import full_log


@command()
@session_argument
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of stdout.")
def export(store: LogStore, session: str, output: Path | None, as_json: bool) -> None:
    """Write a whole session as JSON lines: the past before a fork and all large results included.

    --json changes nothing: the export is JSON lines already. `outlive replay` reads it.

    \b
    Examples:
      outlive session export SESSION -o session.jsonl
      outlive session export SESSION | gzip > session.jsonl.gz
    """
    log = full_log(store, session)
    say_damage(log.damage)
    lines = [encode(event) + b"\n" for event in log.events]
    if output is None:
        echo_exact(b"".join(lines))
        return
    with named_output(output) as file:
        file.writelines(lines)
