"""export."""

from pathlib import Path

from outlive.cli.echo import output_option, write_lines
from outlive.cli.session.common import command, say_damage, session_argument
from outlive.events import encode
from outlive.stores.logs.protocol import LogStore
from outlive.stores.logs.reading import full_log


@command()
@session_argument
@output_option
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
    write_lines(map(encode, log.events), output)
