"""How the tools of MCP servers are shown to the model: all in one line each, or those that match in full."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from outlive.printable import clean, one_line
from outlive.tools.mcp.connection import RemoteTool, ServerConnection
from outlive.tools.mcp.results import untrusted_text

MAX_SHOWN_IN_FULL = 5
"""Tools of a search that are shown with their schemas."""
MAX_LINES = 200  # tools of a server that are listed by name; others are found by search
MAX_LINE_CHARS = 120  # of such a line
MAX_DESCRIPTION_CHARS = 2_000  # texts of a server are paid for by the user; this one and the following are cut
MAX_SCHEMA_CHARS = 8_000  # of a tool's arguments
MAX_INSTRUCTIONS_CHARS = 2_000  # of a server
MAX_LISTING_CHARS = 60_000
"""Characters of all tools that are not deferred."""
_WORDS = re.compile(r"[^\W_]+")


def search(connections: Sequence[ServerConnection], query: str) -> str:
    """The tools that match the query best, in full; the other matches, or without a query all tools, by name."""
    wanted = {word.casefold() for word in _WORDS.findall(query)}
    names = set(query.replace(",", " ").split())
    ranked = [
        (score, connection, tool)
        for connection in connections
        for tool in connection.tools.values()
        if (score := 1 if not wanted else 100 * (tool.name in names) + _score(tool, wanted))
    ]
    ranked.sort(key=lambda entry: -entry[0])
    full, rest = (ranked[:MAX_SHOWN_IN_FULL], ranked[MAX_SHOWN_IN_FULL:]) if wanted else ([], ranked)
    parts = []
    for connection in connections:
        lines = [in_full(tool) for _, of, tool in full if of is connection]
        others = [tool for _, of, tool in rest if of is connection]
        lines += [one_line(f"{tool.name}: {tool.description}", MAX_LINE_CHARS) for tool in others[:MAX_LINES]]
        lines += [f"({len(others) - MAX_LINES} more; search for words)"] if len(others) > MAX_LINES else []
        if not wanted and connection.unusable:
            lines.append(f"({connection.unusable} more are not offered: their names are not plain words)")
        if not wanted and connection.instructions:
            lines.insert(0, clean(connection.instructions[:MAX_INSTRUCTIONS_CHARS]))
        if lines:
            parts.append(untrusted_text(connection.name, "\n".join(lines)))
    return "\n\n".join(parts)


def all_in_full(connections: Iterable[ServerConnection]) -> str:
    """Every tool with its schema, within a bound; those that do not fit are counted."""
    parts, room = [], MAX_LISTING_CHARS
    for connection in connections:
        lines = []
        for tool in connection.tools.values():
            text = in_full(tool)
            room -= len(text)
            lines += [text] if room >= 0 else []
        left_out = len(connection.tools) - len(lines)
        lines += [f"({left_out} more: mcp_search finds them)"] if left_out else []
        if lines:
            parts.append(untrusted_text(connection.name, "\n".join(lines)))
    return "\n\n".join(parts)


def in_full(tool: RemoteTool) -> str:
    """A tool with its description and the schema of its arguments, without characters that hide or reverse others."""
    schema = msgspec.json.encode(_plain(tool.schema)).decode()
    if len(schema) > MAX_SCHEMA_CHARS:
        schema = f"{schema[:MAX_SCHEMA_CHARS]} [… {len(schema) - MAX_SCHEMA_CHARS:,} more characters]"
    return clean(f"{tool.name}: {tool.description[:MAX_DESCRIPTION_CHARS].strip()}\n  arguments: {schema}")


def _score(tool: RemoteTool, wanted: set[str]) -> int:
    """Matching words; those of the name count three times. A part of a word counts from three letters on."""
    score = 0
    for text, weight in ((tool.name, 3), (tool.description[:MAX_DESCRIPTION_CHARS], 1)):
        lowered = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).casefold()
        words = set(_WORDS.findall(lowered))
        score += weight * sum(word in words or (len(word) > 2 and word in lowered) for word in wanted)
    return score


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("$schema", "title")}
