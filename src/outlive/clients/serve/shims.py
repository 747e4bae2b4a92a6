"""The plugins that run inside of pi and opencode: TypeScript without dependencies, one file a client."""

import json
from collections.abc import Sequence
from importlib.resources import files

_COMMAND = 'const COMMAND: string[] = ["outlive"]; // filled in by `outlive init`'


def shim(client: str, command: Sequence[str]) -> bytes:
    """The plugin for a client. `command` starts this installation of outlive."""
    folder = files("outlive.clients") / "shims"
    common, own = ((folder / name).read_text("utf-8") for name in ("ask.ts", f"{client}.ts"))
    given = f"const COMMAND: string[] = {json.dumps(list(command))};"
    return f"{common.replace(_COMMAND, given)}\n{own}".encode()
