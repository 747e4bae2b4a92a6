"""A made-up session with enough in it to be compacted: files read, edited, tests run."""

from pathlib import Path

from outlive.agent import Session
from outlive.messages import Text, ToolCall


def file_text(number: int, lines: int = 120) -> str:
    rows = [f"{n}\tdef handler_{number}_{n}(request_{n}): return module_{number}.value_{n}" for n in range(lines)]
    return "\n".join(rows)


def step(session: Session, number: int, *, lines: int = 120, path: str = "") -> None:
    """One answer with one call, and its result."""
    name = path or f"src/module_{number}.py"
    call = ToolCall(f"call_{number}", "read_file", {"path": name})
    session.assistant_said((Text(f"I look at {name}."), call))
    session.tool_finished(call.id, file_text(number, lines))


def talk(session: Session, steps: int, *, first: int = 0, lines: int = 120) -> int:
    """Play some steps, asking for each request as a loop would; how many passes there were."""
    passes = 0
    for number in range(first, first + steps):
        if number % 10 == 0:
            session.user_said(f"Please go through part {number // 10}. Never touch generated_{number}.py.")
        passes += len(session.next_request().passes)
        step(session, number, lines=lines)
    return passes


class Ticks:
    """A clock that goes on by a second with each look."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def lines_in(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")
