"""Tool calls as cards: `● bash pytest -q ✓ 1.2 s`, and below it the end of the output, the error, or the diff."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from outlive.cli.chat.render import diffs
from outlive.cli.chat.words import counted, cut, cut_start, duration, elapsed
from outlive.events import PlanStep, ToolFinished
from outlive.messages import COMMAND_KEYS, PATH_KEYS, ToolCall
from outlive.printable import clean, clean_output, one_line
from outlive.tools.files.call_diff import call_diff

INDENT = 4  # columns, so that results stand below their call
MAX_DIFF_LINES = 16  # the rest with Ctrl+O, as for the following
MAX_ERROR_LINES = 4  # what failed, the last ones of a command
MAX_OUTPUT_LINES = 3  # the last ones, where tools print their verdict
MAX_LIVE_LINES = 4  # of a running command, so that several fit below each other
MIN_SHOWN_SECONDS = 0.95
"""Seconds; the duration of a faster call is not shown."""
_KEYS = (
    *(*COMMAND_KEYS, "pattern", *PATH_KEYS, "query", "handle", "subject"),
    *("name", "task_id", "url", "focus", "description"),
)
_EXIT = re.compile(r"\[exit code -?\d+\]")
"""The card says it already."""
_CUT_OFF = ("[interrupted", "[not run")


@dataclass(frozen=True, slots=True)
class Card:
    """A finished call, rendered to fit the width."""

    call: ToolCall
    result: ToolFinished
    plan: tuple[PlanStep, ...] = ()
    current_step: int = 0
    with_diff: bool = True
    suspects: tuple[ToolCall, ...] = ()
    """Edits that may have made it fail."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.result.is_error or self.result.exit_code:
            yield _failed(self.call, self.result, options.max_width)
            if self.suspects:
                yield Padding(_changed(self.suspects), (0, 0, 0, INDENT))
            return
        lines = call_diff(self.call)
        took = duration(self.result.seconds) if self.result.seconds >= MIN_SHOWN_SECONDS else ""
        facts = " · ".join(filter(None, ["" if self.plan else _came_to(self.result, lines), took]))
        yield headline(self.call, options.max_width, "●", "good", f"✓ {facts}".rstrip())
        if self.plan:
            yield Padding(steps(self.plan, self.current_step), (0, 0, 0, INDENT))
        elif lines and self.with_diff:
            yield Padding(_shortened(lines), (0, 0, 0, INDENT))
        elif self.result.exit_code is not None:
            yield _indented(_lines(self.result)[-MAX_OUTPUT_LINES:], options.max_width)


def target(call: ToolCall) -> tuple[str, str]:
    """Return the main argument of a call as (key, text)."""
    for key in (*_KEYS, *call.input):
        value = call.input.get(key)
        if isinstance(value, str if key != "task_id" else (str, int)) and str(value).strip():
            place = call.input.get("path") if key == "pattern" else None
            return key, one_line(f"{value} in {place}" if isinstance(place, str) and place.strip() else str(value))
    return "", ""


def headline(call: ToolCall, width: int, mark: str, style: str, after: str = "") -> Text:
    """Render mark, tool, target and outcome on one line."""
    name = one_line(call.name)
    key, about = target(call)
    room = width - len(name) - len(after) - 5
    shown = cut_start(about, room) if key in PATH_KEYS else cut(about, room)
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(f"{mark} ", style)
    line.append(name, "strong")
    if shown and room > 3:
        line.append(f" {shown}")
    if after:
        line.append(f" {after}", style if style == "bad" else "quiet")
    return line


def running(call: ToolCall, width: int, mark: str, seconds: float, output: str = "") -> list[Text]:
    """Render a running call with the last lines of its output."""
    after = elapsed(seconds) if seconds >= 1 else ""
    lines = [line for line in clean_output(output[-4000:]).splitlines() if line.strip()][-MAX_LIVE_LINES:]
    return [
        headline(call, width, mark, "accent", after),
        *(Text(" " * INDENT + cut(line, width - INDENT), "quiet") for line in lines),
    ]


def whole(call: ToolCall, result: ToolFinished) -> RenderableType:
    """Render the whole input and the whole result."""
    parts: list[RenderableType] = [Text.assemble(("● ", "accent"), (one_line(call.name), "strong"))]
    lines = call_diff(call)
    for key, value in call.input.items():
        if not lines or not isinstance(value, str) or "\n" not in value:
            parts.append(Padding(Text.assemble((f"{one_line(key)} ", "quiet"), clean(str(value))), (0, 0, 0, 2)))
    if lines:
        parts.append(Padding(Group(*diffs.painted(lines)), (0, 0, 0, 2)))
    parts.append(Padding(Text(clean_output(result.text).rstrip() or "(no output)", "quiet"), (0, 0, 0, 2)))
    return Group(*parts)


def steps(plan: Sequence[PlanStep], current: int = 0) -> Text:
    text = Text()
    for number, step in enumerate(plan, 1):
        mark, style = ("✓", "quiet") if step.done else ("▸", "strong") if number == current else ("○", "")
        text.append(f"{mark} {one_line(step.text)}\n", style)
    text.rstrip()
    return text


def _failed(call: ToolCall, result: ToolFinished, width: int) -> RenderableType:
    if result.text.startswith(_CUT_OFF):
        return headline(call, width, "●", "warn", "⏹ interrupted")
    took = f" · {duration(result.seconds)}" if result.seconds >= MIN_SHOWN_SECONDS else ""
    refused = result.text.startswith((f"{call.name} was not run", "[not run"))
    what = f"exit {result.exit_code}" if result.exit_code else "not run" if refused else "failed"
    card = headline(call, width, "●", "bad", f"✗ {what}{took}")
    lines = _lines(result)
    kept = lines[-MAX_ERROR_LINES:] if result.exit_code else lines[:MAX_ERROR_LINES]
    more = f"… {counted(len(lines) - len(kept), 'more line')} (ctrl+o)" if len(lines) > len(kept) else ""
    return Group(card, _indented([*kept, more] if more else kept, width))


def _lines(result: ToolFinished) -> list[str]:
    """Return the lines of the output that are neither blank nor the exit code."""
    return [line for line in clean_output(result.text).splitlines() if line.strip() and not _EXIT.fullmatch(line)]


def _indented(lines: list[str], width: int) -> RenderableType:
    """Render output lines below the call, cut to the width."""
    shown = [Text(cut(line.expandtabs(4), width - INDENT), "quiet") for line in lines]
    return Padding(Group(*shown), (0, 0, 0, INDENT)) if shown else Group()


def _came_to(result: ToolFinished, lines: list[str]) -> str:
    """Summarise the result: size of an edit or number of lines; empty if the output is shown whole."""
    if lines:
        return diffs.size(lines)
    count = len(_lines(result)) if result.exit_code is not None else len(result.text.splitlines())
    return counted(count, "line") if count > (1 if result.exit_code is None else MAX_OUTPUT_LINES) else ""


def _changed(edits: Sequence[ToolCall]) -> RenderableType:
    """Render what was changed since a check last passed; of many lines the newest, which are the likeliest cause."""
    lines = [Text("changed since it last passed:", "quiet")]
    for edit in edits:
        lines.append(Text(target(edit)[1], "quiet"))
        lines += diffs.painted(call_diff(edit))
    left = len(lines) - 1 - MAX_DIFF_LINES
    if left > 0:
        lines[1 : 1 + left] = [Text(f"… {counted(left, 'earlier line')}", "quiet")]
    return Group(*lines)


def _shortened(lines: list[str]) -> RenderableType:
    shown = list(diffs.painted(lines[:MAX_DIFF_LINES]))
    if len(lines) > MAX_DIFF_LINES:
        shown.append(Text(f"… {counted(len(lines) - MAX_DIFF_LINES, 'more line')} (ctrl+o)", "quiet"))
    return Group(*shown)
