"""What has arrived of an answer and is not in the log yet, in pieces for browsers that watch and whole for others."""

from typing import Any

from msgspec import Struct, field

from outlive.events import AssistantSaid, Event, ToolFinished
from outlive.printable import clean, clean_output, one_line
from outlive.stream import (
    ModelRetrying,
    StreamEvent,
    SubagentActed,
    TextDelta,
    ThinkingDelta,
    ToolCallStreaming,
    ToolOutput,
)

LONGEST_TEXT = 200_000
"""Characters of an answer that are kept for a browser that comes later; the end of it counts."""
LONGEST_OUTPUT = 8_000
"""Characters of a running command's output."""
MOST_OUTPUTS = 16  # of calls that run at a time; the oldest goes


class Draft(Struct):
    """The answer and the output of running commands so far."""

    thinking: str = ""
    text: str = ""
    call: str = ""
    """The tool whose call the model is writing."""
    waits: str = ""
    """Why the request goes out again."""
    outputs: dict[str, str] = field(default_factory=dict)
    """The end of the output of each running call."""
    helpers: dict[str, str] = field(default_factory=dict)
    """What each sub-agent did last."""

    def take(self, happened: Event | StreamEvent) -> dict[str, Any] | None:
        """The piece that browsers are told, if it is one."""
        piece = _piece(happened)
        if piece is None:
            return None
        match piece["kind"]:
            case "text" | "thinking" as name:
                self.waits = self.call = ""
                setattr(self, name, (getattr(self, name) + piece["text"])[-LONGEST_TEXT:])
            case "call":
                self.call = piece["text"]
            case "waits":
                self._clear()
                self.waits = piece["text"]
            case "output":
                so_far = self.outputs.pop(piece["call"], "")
                self.outputs[piece["call"]] = (so_far + piece["text"])[-LONGEST_OUTPUT:]
                while len(self.outputs) > MOST_OUTPUTS:
                    self.outputs.pop(next(iter(self.outputs)))
            case "helper":
                self.helpers[piece["session"]] = piece["text"]
            case "said":
                self._clear()
            case "finished":
                self.outputs.pop(piece["call"], None)
        return piece

    def end(self) -> None:
        """A run is over: nothing more arrives."""
        self._clear()
        self.outputs, self.helpers = {}, {}

    def _clear(self) -> None:
        self.thinking = self.text = self.call = self.waits = ""


def _piece(happened: Event | StreamEvent) -> dict[str, Any] | None:
    match happened:
        case TextDelta():
            return {"kind": "text", "text": clean(happened.text)}
        case ThinkingDelta():
            return {"kind": "thinking", "text": clean(happened.text)}
        case ToolCallStreaming():
            return {"kind": "call", "text": one_line(happened.name, 80)}
        case ModelRetrying():
            when = f"trying again in {happened.seconds:.0f} s"
            return {"kind": "waits", "text": f"{one_line(happened.reason, 300)}; {when}"}
        case ToolOutput():
            shown = clean_output(happened.text[-LONGEST_OUTPUT:])
            return {"kind": "output", "call": happened.call_id, "text": shown}
        case SubagentActed():
            return {"kind": "helper", "session": happened.session, "text": one_line(happened.text, 200)}
        case AssistantSaid():
            return {"kind": "said", "event": happened.id}
        case ToolFinished():
            return {"kind": "finished", "call": happened.call_id, "event": happened.id}
        case _:
            return None


def joined(pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbouring pieces of the same text as one."""
    found: list[dict[str, Any]] = []
    for piece in pieces:
        same = found and all(found[-1].get(key) == piece.get(key) for key in ("kind", "call"))
        if same and piece["kind"] in ("text", "thinking", "output"):
            longest = LONGEST_OUTPUT if piece["kind"] == "output" else LONGEST_TEXT
            found[-1]["text"] = (found[-1]["text"] + piece["text"])[-longest:]
        else:
            found.append(dict(piece))
    return found
