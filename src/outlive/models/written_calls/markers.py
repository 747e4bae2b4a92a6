"""Patterns for the beginnings and ends of tool calls that models write as text."""

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

_SPACE = r"[ \t]{0,8}"
_TAG = r"(?:[\w-]{1,16}:|｜DSML｜)?(?:tool_calls?|function_calls?|tools|TOOLCALL)"
_NAMED_TAG = r"<(?:｜DSML｜)?(?:invoke|function|tool|tool_call) name=\"(?=[\w.-]{1,64}\")"
_TOKEN = r"<\|/?[A-Za-z_]{1,40}\|>"  # noqa: S105 - a special token of a template
_HARMONY = r"(?:<\|start\|>assistant)?(?:<\|channel\|>\w{1,16})?\s?to=(?=functions\.)"
_OPENERS = (
    rf"<{_TAG}>|{_NAMED_TAG}|<function=|\[TOOL_CALLS\]|functools(?=\[)|<\|tool_calls_section_begin\|>"
    rf"|<\|(?:python_tag|tool_call(?:_begin|_start)?|START_ACTION|action_start|tools_prefix)\|>"
    rf"|<｜tool▁calls?▁begin｜>|{_HARMONY}"
)
_REACT = (
    rf"(?m:^){_SPACE}(?:\*\*)?Action:(?:\*\*)?{_SPACE}"
    rf"(?:(?=[A-Za-z_][\w.-]{{0,63}}{_SPACE}\r?\n\s{{0,8}}(?:\*\*)?Action Input:)"
    rf"|(?=```json\s{{0,8}}\[?\s{{0,8}}\{{))"
)
_INNER = (
    r"\[ARGS\]|<\|tool_call_argument_begin\|>|(?:function)?<｜tool▁sep｜>|\">|<\|plugin\|>"
    r"|(?:<\|constrain\|>)?(?:json|code)?<\|message\|>|(?:\*\*)?Action Input:(?:\*\*)?"
)
_CLOSERS = rf"</{_TAG}>|</(?:｜DSML｜)?(?:invoke|function|tool)>|{_TOKEN}|<｜tool▁calls?▁end｜>"
TEMPLATE_TOKEN = re.compile(rf"{_TOKEN}(?:assistant|analysis|commentary|final)?")
CLOSING = re.compile(rf"{_CLOSERS}|```")
NAME = re.compile(r"(?:functions\.)?([A-Za-z_][\w.-]{0,63})(?::\d{1,4})?")
PARAMETER = re.compile(
    r"\s*+(?:<(?P<dsml>｜DSML｜)?parameter(?:=| name=\")(?P<parameter>[^>\"\n]{1,64})\"?(?: string=\"\w{1,5}\")?>"
    r"|<arg_key>(?P<key>[^<\n]{1,64})</arg_key>\s*+<arg_value>|<(?P<tag>[A-Za-z_]\w{0,63})>)"
)
HELD_BACK = re.compile(
    rf"<state>|<think>|{_OPENERS}|<\||<｜|<invoke|Action:|>>>\w|\[?\w{{1,64}}\(\w{{1,64}}="
    r"""|(?:```\w{0,12}\s{0,8})?\[?\{{1,2}\s{0,8}["'](?:name|type|id|arguments|function|action|tool\w{0,12})["']"""
)
"""Text that may be the start of a call or of an echo of the state block is not shown before it is complete."""


class Markers(Struct, frozen=True):
    """The patterns that depend on the names of the tools."""

    opening: re.Pattern[str]
    """The start of anything that may be a call. Group `python`: a call in Python's syntax; `tag`: `<tool>`."""
    skipped: re.Pattern[str]
    """What may be between a marker and the call, and between its name and its arguments."""
    between: re.Pattern[str]
    """What may be between two calls."""


def markers(tools: Iterable[str]) -> Markers:
    """The patterns for tools with these names."""
    return _markers(tuple(sorted(tools)))


@lru_cache(maxsize=8)
def _markers(names: tuple[str, ...]) -> Markers:
    known = "|".join(map(re.escape, names))
    named = rf"(?m:^)(?:>>>)?(?=(?:{known})\s{{0,4}}(?:\[ARGS\])?\{{\s{{0,8}}\")"
    python = rf"(?P<python>(?<![\w.`])(?:\[\s{{0,8}}|print\()?(?:default_api\.|functions\.)?(?=(?:{known})\())"
    openers = rf"{_OPENERS}|{_REACT}|{named}"
    tag = rf"(?P<tag><(?=(?:{known})>))"
    closers = rf"{_CLOSERS}|</(?:{known})>"
    return Markers(
        re.compile(rf"{openers}|{tag}|{python}|\{{"),
        re.compile(rf"(?:\s|{openers}|{_INNER}|```(?:json)?\n|[\[>])*+"),
        re.compile(rf"(?:\s|{openers}|<(?:{known})>|{closers}|```\w{{0,12}}|[\[\]{{}},;>)])*+"),
    )
