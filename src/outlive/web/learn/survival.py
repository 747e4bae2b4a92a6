"""Lesson 2: a recorded session at a window of the visitor's choice, to be compacted, restarted and handed over."""

import shutil
from pathlib import Path
from typing import Any

from outlive.agent.log.session_log import SessionOptions
from outlive.agent.policies import policy_named
from outlive.agent.recall import pages_of
from outlive.agent.session import Session
from outlive.context.log.pages import visible_pages
from outlive.errors import OutliveError
from outlive.messages import Text, ToolCall, ToolResult, call_label
from outlive.printable import clean
from outlive.stores import Stores, open_stores
from outlive.stores.logs.reading import full_log
from outlive.tasks.graph import TaskGraph
from outlive.web.api import bad_request
from outlive.web.learn import recording
from outlive.web.learn.player import EVERYTHING, Moment, digest_of, fates, play, ticking, todo_seen
from outlive.web.receipt import receipt_facts

SMALLEST, LARGEST = 4_000, 48_000
"""Windows, in tokens."""
POLICY = "rich,payback=0"
"""Passes are made because the window is full, and not earlier because they pay: here only the window counts."""
FIRST, SECOND = "first-agent", "second-agent"
MOST_SHOWN = 6_000
"""Characters of one text of a request."""
SWAPPED = (
    recording.Turn("Go on with what is open.", by_user=True),
    recording.Turn("I have no memory of this. What is on the list?", (recording.RecordedCall("task_list", {}),)),
)


class SurvivalLesson:
    """The session of one visitor. Called by one thread at a time."""

    def __init__(self, folder: Path, window: int = LARGEST) -> None:
        self._folder = folder
        self._plays = 0
        self._stores: Stores | None = None
        self.actions: list[dict[str, Any]] = []
        self.play(window)
        self.actions.clear()

    def close(self) -> None:
        if self._stores is not None:
            self._session.close()
            self._stores.close()

    # -- actions

    def play(self, window: int) -> None:
        """Play the recording from its beginning at this window, into new stores."""
        if not SMALLEST <= window <= LARGEST:
            raise bad_request(f"the window has {SMALLEST:,} to {LARGEST:,} tokens")
        self.close()
        if self._plays:
            shutil.rmtree(self._place)
        self._plays += 1
        self._place.mkdir(mode=0o700)
        self.window = window
        self._open()
        self._session = Session.start(self._logs, id=FIRST, system=recording.SYSTEM, **self._options())
        self._moments, self._stopped = play(self._session, self._graph, recording.turns())
        self._did("window", window=window, passes=sum(len(moment.passes) for moment in self._moments))

    def compact(self) -> dict[str, object]:
        """What `/compact` does: fold all but the newest part now."""
        made = self._session.compact()
        if made is None:
            raise OutliveError("there is nothing to gain from another pass", hint="a smaller window, or a restart")
        self._session.next_request()  # the state block, which the pass took out, comes back with it
        self._moments.append(Moment(self._session.engine.used, self._session.engine.kinds(), (made,)))
        return self._did(
            "compact", rungs=list(made.receipt.rungs), before=made.receipt.before, after=made.receipt.after
        )

    def restart(self) -> dict[str, object]:
        """Forget everything in memory, open the stores again, and rebuild the session from its log."""
        before, name, events = digest_of(self._session.engine), self._session.id, self._session.last_event
        self.close()
        self._open()
        self._session = Session.resume(self._logs, name, **self._options())
        after = digest_of(self._session.engine)
        return self._did("restart", before=before, after=after, events=events, same=before == after)

    def swap(self) -> dict[str, object]:
        """Let another agent go on: a new session, the same stores."""
        if self._session.id == SECOND:
            raise OutliveError("the second agent is at work already", hint="drag the window to begin again")
        self._session.close()
        self._session = Session.start(self._logs, id=SECOND, system=recording.SYSTEM, **self._options())
        moments, self._stopped = play(self._session, self._graph, SWAPPED)
        self._moments = [*moments, self._now()]
        return self._did("swap")

    def recall(self, handle: str) -> dict[str, object]:
        """The exact text behind a handle of the first agent's session, read from its log on disk."""
        page = pages_of(full_log(self._logs, FIRST).events).get(handle)
        text = page.text
        shown = any(page.number in visible_pages(part) for part in self._texts())
        self._did("recall", handle=f"@h{page.number}")
        return {
            "handle": f"@h{page.number}",
            "text": clean(text),
            "bytes": len(text.encode()),
            "shown": shown,
            "command": f"outlive recall @h{page.number} --session {FIRST}",
        }

    # -- what the page shows

    def snapshot(self) -> dict[str, object]:
        tasks = [
            {"id": task.id, "subject": task.subject, "status": task.status, "blockedBy": task.blocked_by}
            for task in self._graph.find(EVERYTHING)
        ]
        info = self._logs.info(self._session.id)
        return {
            "window": self.window,
            "limits": [SMALLEST, LARGEST],
            "agent": self._session.id,
            "moments": [_told(moment) for moment in [*self._moments, self._now()]],
            "stopped": self._stopped,
            "facts": self._facts(),
            "todo": todo_seen(self._session.engine),
            "tasks": tasks,
            "used": self._session.engine.used,
            "log": {"path": f".transcripts/{info.id}.jsonl", "bytes": info.size, "events": info.last_event},
            "digest": digest_of(self._session.engine),
            "sessions": sorted(info.id for info in self._logs.sessions()),
        }

    def where(self) -> dict[str, str]:
        """Where each fact is now, by its key."""
        return {str(fact["key"]): str(fact["where"]) for fact in self._facts()}

    def request(self) -> list[dict[str, object]]:
        """The messages that a model would be sent now."""
        messages: list[dict[str, object]] = [{"role": "system", "parts": [_part("text", recording.SYSTEM)]}]
        for message in self._session.engine.shown():
            parts = []
            for block in message.blocks:
                if isinstance(block, Text):
                    parts.append(_part("text", block.text))
                elif isinstance(block, ToolCall):
                    parts.append(_part("call", call_label(block, 200)))
                elif isinstance(block, ToolResult):
                    parts.append(_part("result", block.text))
            messages.append({"role": message.role, "parts": parts})
        return messages

    # -- inside

    @property
    def _place(self) -> Path:
        return self._folder / f"play-{self._plays}"

    def _open(self) -> None:
        self._stores = open_stores("files:.tasks", base=self._place, durability="process")
        self._logs = self._stores.logs
        self._graph = TaskGraph(self._stores.tasks, actor="agent")

    def _options(self) -> SessionOptions:
        return {"window": self.window, "policy": policy_named(POLICY), "clock": ticking()}

    def _now(self) -> Moment:
        return Moment(self._session.engine.used, self._session.engine.kinds(), ())

    def _texts(self) -> list[str]:
        return [str(part["text"]) for message in self.request() for part in _parts(message)]

    def _facts(self) -> list[dict[str, object]]:
        """The fates in the session that is at work; handles are those of the first agent's session."""
        found = fates(self._session.engine)
        if self._session.id == SECOND:
            pages = pages_of(full_log(self._logs, FIRST).events)
            for fact in found:
                fact["handles"] = [f"@h{page.number}" for page in pages if str(fact["text"]) in page.text]
                fact["where"] = "window" if fact["where"] == "window" else "elsewhere"
        return found

    def _did(self, op: str, **more: Any) -> dict[str, object]:
        self.actions.append({"op": op, **more})
        del self.actions[:-50]
        return self.actions[-1]


def _told(moment: Moment) -> dict[str, object]:
    return {"tokens": moment.tokens, "kinds": moment.kinds, "passes": [receipt_facts(made) for made in moment.passes]}


def _part(kind: str, text: str) -> dict[str, object]:
    return {"kind": kind, "text": clean(text[:MOST_SHOWN]), "length": len(text)}


def _parts(message: dict[str, object]) -> list[dict[str, object]]:
    parts = message["parts"]
    assert isinstance(parts, list)  # noqa: S101 - made above
    return parts
