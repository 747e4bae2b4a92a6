"""Slash commands that only show something."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from outlive.cli.chat.render import cards
from outlive.cli.chat.slash.base import COMMANDS, WrongUsage, command
from outlive.cli.chat.status import bar
from outlive.cli.chat.talk import Talk
from outlive.cli.chat.words import ago, counted, cut, dollars, short_session, tokens
from outlive.context.log.pages import HANDLE_IN_TEXT
from outlive.context.passes.pinning import kept
from outlive.events import Compacted, DirectiveDropped, Event, Undone, UsageReported
from outlive.printable import clean, one_line
from outlive.stores.logs.reading import full_log
from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.marks import mark, state

MAX_LISTED = 30  # rows: about one screen
BAR_CELLS = 24  # with the numbers beside it a line fits 80 columns
KEYS = (
    ("Enter", "send; while the agent works, queue"),
    ("Alt+Enter, \\ Enter", "new line"),
    ("Esc", "stop the agent"),
    ("Esc Esc", "at rest, with an empty input: go back to before a message"),
    ("Ctrl-C", "stop the agent; twice when it rests: leave"),
    ("Ctrl-D", "leave"),
    ("Ctrl-V", "paste the image in the clipboard"),
    ("Ctrl-O", "the last results in full"),
    ("Ctrl-R, ↑, ↓", "search and walk through what you said before"),
    ("Ctrl-G", "edit the input in $VISUAL or $EDITOR"),
    ("Shift+Tab", "next mode: ask, accept-edits, plan"),
    ("@", "put in a file, lines of it (`@app.py:10-40`) or a folder; a few letters complete the name"),
    ("!", "at the start: run a shell command yourself; the agent sees it with your next words"),
)
_TASKS = {"ready": "accent", "in_progress": "warn", "blocked": "quiet"}


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in columns, the first one highlighted; in a narrow terminal the others go below the first."""

    rows: tuple[tuple[RenderableType, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = max((cell_len(str(row[0])) for row in self.rows), default=0)
        if first * 2 > options.max_width:
            for row in self.rows:
                yield Text(str(row[0]), "accent")
                yield from (Padding(cell, (0, 0, 0, 2)) for cell in row[1:])
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, style="accent")
        for _ in range(max(map(len, self.rows), default=2) - 1):
            grid.add_column(overflow="fold")
        for row in self.rows:
            grid.add_row(*row)
        yield grid


def table(*rows: tuple[RenderableType, ...]) -> Rows:
    return Rows(rows)


@command("", "the commands and the keys")
async def help_(talk: Talk, words: str) -> RenderableType:
    commands = table(*((command.usage, Text(command.about, "quiet")) for command in COMMANDS.values()))
    keys = table(*((key, Text(about, "quiet")) for key, about in KEYS))
    own = (
        (one_line(f"/{own.name} {own.hint}"), Text(one_line(own.about), "quiet"))
        for own in talk.custom_commands().values()
        if own.name not in COMMANDS
    )
    return Group(commands, Text(), table(*own), Text(), keys)


@command("", "open tasks of the project")
async def tasks(talk: Talk, words: str) -> RenderableType:
    found = talk.agent.parts.graph.find()
    if not found:
        return Text("no open tasks", "quiet")
    rows = [_task(task) for task in found[:MAX_LISTED]]
    if len(found) > MAX_LISTED:
        rows.append(Text(f"… and {len(found) - MAX_LISTED:,} more: outlive task list", "quiet"))
    return Group(*rows)


def _task(task: Task) -> Text:
    line = Text(f"{mark(task)} {task.id} ", _TASKS.get(state(task), ""))
    line.append(one_line(task.subject), "")
    if task.owner:
        line.append(f" @{one_line(task.owner)}", "quiet")
    if task.blocked_by:
        line.append(f" ← {', '.join(map(str, task.blocked_by[:5]))}", "quiet")
    return line


@command("", "the plan and how far it is")
async def plan(talk: Talk, words: str) -> RenderableType:
    known = talk.agent.session.state
    parts: list[RenderableType] = []
    if known.goal:
        parts.append(Text.assemble(("goal ", "quiet"), clean(known.goal)))
    parts.append(cards.steps(known.plan, known.current_step) if known.plan else Text("no plan yet", "quiet"))
    for name, text in (
        ("done before", "; ".join(known.finished)),
        ("progress", known.progress),
        ("blocked on", known.blocked_on),
        ("scratchpad", known.scratchpad),
    ):
        if text:
            parts.append(Text.assemble((f"{name} ", "quiet"), clean(text)))
    return Group(*parts)


@command("[drop N]", "your standing instructions, which every request carries; drop takes one back")
async def directives(talk: Talk, words: str) -> RenderableType:
    session = talk.agent.session
    known = session.state.directives
    if not known:
        return Text("no standing instructions; say one (“always …”, “never …”) and it is kept", "quiet")
    if not words:
        rows = (
            f"{'◆' if directive.pinned else '◇'} {n}. {clean(directive.text)}" for n, directive in enumerate(known, 1)
        )
        return Group(*map(Text, rows))
    verb, _, number = words.partition(" ")
    if verb != "drop" or not number.isdigit() or not 1 <= int(number) <= len(known):
        raise WrongUsage(
            f"/directives shows them with their numbers, /directives drop 1 to {len(known)} takes one back"
        )
    gone = known[int(number) - 1]
    session.log(DirectiveDropped, text=gone.text, reason="the user took it back")
    return Text(f"no longer: {clean(gone.text)}", "quiet")


@command("", "what fills the window, by kind")
async def context(talk: Talk, words: str) -> RenderableType:
    gauge = talk.agent.gauge
    kinds = sorted(talk.agent.session.engine.kinds().items(), key=lambda pair: -pair[1])
    most = max((count for _, count in kinds), default=1)
    head = Text(f"{tokens(gauge.used)} of {tokens(gauge.window)} tokens {bar(gauge, BAR_CELLS)} ")
    head.append(f"next pass at {tokens(gauge.next_pass)}", "quiet")
    if talk.agent.window_origin:
        head.append(f" · the window is {one_line(talk.agent.window_origin)}", "quiet")
    rows = table(
        *(
            (
                kind,
                Text(tokens(count), justify="right"),
                Text("█" * max(1, round(BAR_CELLS * count / most)), "accent"),
            )
            for kind, count in kinds
        )
    )
    notes = [
        Text(f"kept whole: {one_line(result.what)} {' '.join(result.handles)} · {tokens(result.tokens)}", "quiet")
        for result in kept(talk.agent.session.engine)
    ]
    notes += [Text(f"tools may also use {one_line(str(path))}", "quiet") for path in talk.agent.parts.fence.extra]
    if found := _unexpected(talk.agent.session.events):
        notes.append(Text(found, "quiet"))
    return Group(head, Padding(rows, (0, 0, 0, 2)), *notes)


def _unexpected(events: Iterable[Event]) -> str:
    """What the provider reported of requests that its cache or its check of thinking did not take as they were."""
    reports = [event for event in events if isinstance(event, UsageReported)]
    misses = Counter(event.cache_miss.replace("_", " ") for event in reports if event.cache_miss)
    dropped = sum(event.thinking_dropped for event in reports)
    facts = [f"cache missed: {reason} ×{count}" for reason, count in misses.most_common()]
    facts += [f"{counted(dropped, 'block')} of thinking dropped by the provider"] if dropped else []
    return " · ".join(facts)


@command("", "what each pass did")
async def receipts(talk: Talk, words: str) -> RenderableType:
    events = full_log(talk.setup.store, talk.agent.session.id).events
    undone = {event.target for event in events if isinstance(event, Undone) and event.what == "pass"}
    passes = [event for event in events if isinstance(event, Compacted)]
    if not passes:
        return Text("no passes yet", "quiet")
    return table(*((f"event {made.id}", _receipt(made, undone=made.id in undone)) for made in passes[-MAX_LISTED:]))


def _receipt(made: Compacted, *, undone: bool) -> Text:
    receipt = made.receipt
    line = Text(f"{tokens(receipt.before)} → {tokens(receipt.after)}")
    facts = [
        f"{'+'.join(receipt.rungs)} ({receipt.reason})",
        f"{receipt.units_shrunk} shrunk, {receipt.units_folded} folded",
        counted(receipt.lines_kept, "line") + " kept",
        f"focus: {one_line(made.focus)}" if made.focus else "",
    ]
    line.append(" · " + " · ".join(filter(None, facts)), "quiet")
    if undone:
        line.append(" · taken back", "warn")
    return line


@command("HANDLE | WORDS", "the exact text behind a handle, or where something was said")
async def recall(talk: Talk, words: str) -> RenderableType:
    if not words:
        return Text("/recall @h12 gives the exact text, /recall some words finds handles", "quiet")
    session = talk.agent.context.session
    return Text(clean(session.recall(words)[0] if HANDLE_IN_TEXT.fullmatch(words) else session.search(words)))


@command("", "what the session used and what that cost")
async def cost(talk: Talk, words: str) -> RenderableType:
    spent = talk.agent.spending
    known = dollars(spent.dollars) + (
        f", {counted(spent.unpriced, 'request')} of unknown price" if spent.unpriced else ""
    )
    return table(
        ("cost", known if spent.requests else "nothing yet"),
        ("requests", f"{spent.requests:,}"),
        ("input", f"{spent.input:,} tokens"),
        ("cache", f"{spent.cache_read:,} read, {spent.cache_write:,} written"),
        ("output", f"{spent.output:,} tokens"),
    )


@command("[WORDS]", "what is remembered across sessions")
async def memory(talk: Talk, words: str) -> RenderableType:
    memory = talk.agent.memory
    if memory is None:
        return Text("there is no memory here", "quiet")
    found = memory.search(words, 10) if words else memory.memories.index().strip()
    return Text(clean(found) or "nothing is remembered yet: /remember WORDS, or say “remember that …”")


@command("", "the MCP servers of this session: their state and their tools")
async def mcp(talk: Talk, words: str) -> RenderableType:
    servers = talk.agent.parts.mcp
    if servers is None:
        return Text("no MCP server counts here; `outlive where` lists those that are named, and why", "quiet")
    rows = []
    for connection in servers.connections.values():
        about = clean(f"{connection.problem}\n{connection.details}".strip()) or counted(len(connection.tools), "tool")
        rows.append((connection.name, Text(connection.state), Text(about, "quiet")))
    return table(*rows)


@command("", "sessions of this project, the newest first")
async def sessions(talk: Talk, words: str) -> RenderableType:
    found = talk.sessions()[:MAX_LISTED]
    now = time.time()
    rows = [
        (
            ("▸ " if info.id == talk.agent.session.id else "  ") + one_line(short_session(info.id)),
            Text(ago(now - info.updated), "quiet"),
            Text(cut(one_line(info.title), 60) or "—"),
        )
        for info in found
    ]
    return Group(table(*rows), Text("/resume ID opens one", "quiet"))


@command("[N]", "the last results in full (Ctrl-O), or only the Nth before the end")
async def expand(talk: Talk, words: str) -> RenderableType:
    results = talk.transcript.results
    number = int(words) if words.isdigit() else 0
    if not results or number > len(results):
        return Text(
            f"there {'is' if len(results) == 1 else 'are'} {counted(len(results), 'result')} to show", "quiet"
        )
    chosen = [results[-number]] if number else list(results)[-talk.transcript.batch :]
    return Group(*(cards.whole(*entry) for entry in chosen))
