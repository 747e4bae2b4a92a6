"""The story of `outlive demo`: an agent works beyond its window, is killed, goes on, and nothing is missing."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import msgspec

from outlive.agent.recall import pages_of
from outlive.cli.demo.actor import PRICE, WINDOW, Sent
from outlive.cli.demo.project import MONTHS, VENDOR, lay_out
from outlive.cli.demo.script import ASKED, KILLED_AT, LAST, RULES, STEPS, TASKS
from outlive.cli.demo.telling import aside, check, say
from outlive.config import Workspace
from outlive.context.engine import Engine
from outlive.errors import OutliveError
from outlive.events import AssistantSaid, Compacted, Event, KnownEvent, ToolFinished, decode
from outlive.messages import Message, plain_text, tool_calls
from outlive.models.protocol import Usage
from outlive.replay.costs import Cache, Texts
from outlive.stores import open_stores
from outlive.stores.tasks.protocol import TaskQuery
from outlive.tasks.graph import TaskGraph

RUNGS = ("spool", "snip", "micro", "collapse", "auto", "reactive")
BAR_CELLS = 24  # beside 72 columns of text
_WHY = {
    "arrival": "more arrived than fits",
    "limit": "at the limit",
    "pressure": "the window fills",
    "asked": "the model asked",
    "refused": "the provider refused",
    "cold": "the cache is cold",
}


def play(base: Path, pace: float = 0.0) -> None:
    """Play the story in `base`, with `pace` seconds before each answer; raises if a check at the end fails."""
    (base / "work").mkdir(exist_ok=True)
    lay_out(base / "work")
    say("An agent gets a job that is larger than its window.")
    aside(f"The model is scripted, all else is real: tools, log, tasks, compaction. Window: {WINDOW:,} tokens.\n")
    click.echo(f"  {click.style('you', bold=True)}  {ASKED}")
    for rule in RULES:
        click.echo(f"       {rule}")
    click.echo()
    first = Act(base, pace=pace)
    first.run(until=KILLED_AT)
    say(f"\n  ✗ kill -9 {first.process.pid}", fg="red")
    aside("  in the middle of a command; only the log is left. A new process goes on from it:\n")
    second = Act(base, first.session, pace=pace)
    second.run()
    click.echo(f"\n  {click.style('agent', bold=True)}  {LAST}\n")
    _check(base, first.session)


class Act:
    """One process of the agent, and the display of its events."""

    def __init__(self, base: Path, session: str = "", *, pace: float = 0.0) -> None:
        command = [sys.executable, "-m", "outlive", "demo", "--act", str(base)]
        command += ["--resume", session] if session else []
        command += ["--pace", str(pace)] if pace else []
        environment = os.environ | {"OUTLIVE_HOME": str(base / "home")}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)  # noqa: S603 - our own
        self.session = session
        self._calls: dict[str, str] = {}
        self._failed = 0
        self._line = ""

    def run(self, until: int = 0) -> None:
        """Show its events until it ends, or kill it in the middle of step `until`."""
        assert self.process.stdout is not None  # noqa: S101 - it is a pipe
        with self.process.stdout as lines:
            for line in lines:
                form = msgspec.json.decode(line)
                self.session = form.get("session", self.session) if form["type"] == "opened" else self.session
                if form["type"] == "tool_started" and until and self._line.startswith(f"{until:>3} "):
                    self.process.send_signal(signal.SIGKILL)
                    break
                self._show(line, form)
        code = self.process.wait()
        if code not in (0, -signal.SIGKILL):
            raise OutliveError(f"the agent of the demo ended with exit code {code}; please report this")

    def _show(self, line: bytes, form: dict[str, Any]) -> None:
        if form["type"] in ("opened", "result", "model_waits"):
            return
        match decode(line):
            case AssistantSaid() as said:
                self._begin(said)
            case ToolFinished() as done:
                self._calls.pop(done.call_id, None)
                self._failed += done.is_error or bool(done.exit_code)
                if not self._calls and self._line:
                    mark = click.style("✗", fg="yellow") if self._failed else click.style("✓", fg="green")
                    click.echo(f"  {mark} {self._line}")
            case Compacted() as made:
                click.echo("  " + click.style(f"⤵ {_pass(made)}", fg="cyan"))
            case _ if form["type"] == "usage_reported":
                used = form.get("input", 0) + form.get("cache_write", 0) + form.get("cache_read", 0)
                full = min(round(BAR_CELLS * used / WINDOW), BAR_CELLS)
                self._line = f"{self._line:<72} ▕{'█' * full}{'░' * (BAR_CELLS - full)}▏{used / 1000:5.1f}k"
            case _ if form["type"] == "noted":
                aside(f"    {form['text'][:110]}")

    def _begin(self, said: AssistantSaid) -> None:
        self._calls = {call.id: call.name for call in tool_calls(said.blocks)}
        self._failed = 0
        found = re.match(r"Step (\d+): (.{0,42})", plain_text(said.blocks))
        names = ", ".join(dict.fromkeys(self._calls.values()))
        self._line = f"{found[1]:>3} {names:<24.24} {found[2]}" if found else ""


def _pass(made: Compacted) -> str:
    receipt = made.receipt
    sizes = f"{receipt.before / 1000:.1f}k → {receipt.after / 1000:.1f}k"
    departed = f"{len(receipt.handles)} more pages behind handles" if receipt.handles else ""
    return f"{'+'.join(receipt.rungs):<26} {sizes:<16} {_WHY.get(receipt.reason, receipt.reason):<26} {departed}"


def _check(base: Path, session: str) -> None:
    """Check every promise against the requests sent and the files on disk."""
    work = base / "work"
    workspace = Workspace.read(work)
    store = open_stores(**workspace.store).logs
    events = store.read(session).events
    sent = [msgspec.json.decode(line, type=Sent) for line in (base / "requests.jsonl").read_bytes().splitlines()]
    texts = [request.text for request in sent]
    passes = [event for event in events if isinstance(event, Compacted)]
    ending = [event for event in events if isinstance(event, AssistantSaid)][-1]
    rungs = {rung for event in passes for rung in event.receipt.rungs}
    totals = (work / "totals.txt").read_text().splitlines()
    graph = TaskGraph(open_stores(**workspace.store).tasks)
    still_open = [task.subject for task in graph.find(TaskQuery(sort="id")) if task.status == "pending"]
    since = next(number for number, text in enumerate(texts) if f"#3 {TASKS[2]}" in text)
    last = texts[-1]
    trace = max((e for e in events if isinstance(e, ToolFinished)), key=lambda event: len(event.text))
    pages = pages_of(events)
    numbers = [page.number for page in pages if any(part.piece.event == trace.id for part in page.parts)]
    behind = "".join(pages.get(number).text for number in numbers)
    say("What survived, checked on every request that was sent:")
    claims = {
        f"the user's words and {len(RULES)} standing instructions, verbatim in all {len(sent)} requests": all(
            ASKED in text and all(rule in text for rule in RULES) for text in texts
        ),
        f"the open tasks, in each of the {len(sent) - since} requests since they were made": all(
            f"#{number} {TASKS[number - 1]}" in text for text in texts[since:] for number in (3, 4)
        )
        and still_open == list(TASKS[2:]),
        "every file touched, named in the last request": all(
            name in last for name in ("ledger/parse.py", "ledger/report.py", "MANUAL.md")
        ),
        "vendor/ is as it was": (work / "vendor/rates.py").read_text() == VENDOR,
        f"no command ran twice and none was left out: {len(totals)} totals": [row.split()[0] for row in totals]
        == list(MONTHS),
        f"every rung was used: {', '.join(rung for rung in RUNGS if rung in rungs)}": rungs >= set(RUNGS),
        f"the largest result ({len(trace.text):,} characters), gone from view, comes back byte for byte": trace.text
        in behind
        and trace.text not in last,
        f"all {len(STEPS)} steps are done": plain_text(ending.blocks) == LAST,
    }
    check(claims)
    _costs(events, sent)
    place = f"  (page 1 of {len(numbers)}, the last is @h{numbers[-1]})" if len(numbers) > 1 else ""
    aside(f"\n  get it back yourself:  outlive demo --keep, and in its folder  outlive recall @h{numbers[0]}{place}")
    aside(
        "  see your own sessions, tasks and memories:  outlive web   (this story in the browser:  outlive demo --web)"
    )


def _costs(events: Iterable[Event], sent: list[Sent]) -> None:
    """Print the cost, and what the session would have cost without compaction if it had fitted."""
    engine, cache, texts = Engine(10**9), Cache(), Texts()
    plain, largest = 0.0, 0.0
    for event in events:
        if isinstance(event, AssistantSaid):
            parts = texts.request(engine.next_request())
            used = cache.ask(parts, 0.0, texts.tokens(Message("assistant", event.blocks)))
            plain += PRICE.of(Usage(0, round(used.written), round(used.read), round(used.output)))
            largest = max(largest, used.read + used.written)
        if isinstance(event, KnownEvent) and not isinstance(event, Compacted):
            engine.append(event)
    paid = sum(request.cost for request in sent)
    click.echo(
        f"\n  ${paid:.3f} in a window of {WINDOW / 1000:.0f}k; without compaction ${plain:.3f}, "
        f"and the last request would have had {largest / 1000:.0f}k tokens.\n"
        f"  (tokens and prompt cache simulated, at ${PRICE.input:.0f} and ${PRICE.output:.0f} for a million tokens)"
    )
