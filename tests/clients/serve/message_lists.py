"""Message lists as pi and opencode have them, of our own making."""

from typing import Any

Form = dict[str, Any]
RULES = "Always write weights in kilograms. Never open the folder sealed/."
SECRET = "the seal of bay {} is broken, tell Ilse Varga"


class MessageList:
    """The session of a client; the subclasses write its messages."""

    client = ""

    def __init__(self, session: str = "s-1") -> None:
        self.session = session
        self.messages: list[Form] = []
        self._calls = 0

    def user(self, text: str) -> None:
        raise NotImplementedError

    def step(self, command: str, output: str, thought: str = "", tokens: int = 0) -> str:
        """An answer that runs a command, and what came back; the id of the call."""
        raise NotImplementedError

    def words(self, number: int) -> str:
        """All texts of a message."""
        return texts_of(self.messages[number])

    def request(self, do: str = "view", window: int = 12_000, **more: Any) -> Form:
        about = {"do": do, "client": self.client, "session": self.session}
        return {**about, "window": window, "messages": self.messages, **more}

    def work(self, steps: int, first: int = 1, lines: int = 20) -> None:
        """Read some bays, one a step."""
        for number in range(first, first + steps):
            rows = [f"crate {number:03d}-{row:02d} weighs {row * 7} kg" for row in range(lines)]
            rows.insert(lines // 2, SECRET.format(number))
            self.step(f"cat parts/{number:03d}.txt", "\n".join(rows), thought=f"Bay {number} is next.")


class PiList(MessageList):
    client = "pi"

    def user(self, text: str) -> None:
        self._add(role="user", content=[{"type": "text", "text": text}])

    def step(self, command: str, output: str, thought: str = "", tokens: int = 0) -> str:
        self._calls += 1
        call = f"toolu_{self._calls}"
        thinking = [{"type": "thinking", "thinking": thought, "thinkingSignature": "c2ln"}] if thought else []
        asked = {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": command}}
        usage = {"input": tokens, "output": 9, "cacheRead": 0, "cacheWrite": 0}
        self._add(role="assistant", content=[*thinking, asked], stopReason="toolUse", usage=usage)
        result = [{"type": "text", "text": output}]
        self._add(role="toolResult", toolCallId=call, toolName="bash", content=result, isError=False)
        return call

    def _add(self, **fields: Any) -> None:
        self.messages.append({**fields, "timestamp": 1_800_000_000_000 + 1000 * len(self.messages)})


class OpencodeList(MessageList):
    client = "opencode"

    def user(self, text: str) -> None:
        self._add("user", [{"type": "text", "text": text}], model={"providerID": "p", "modelID": "m"})

    def step(self, command: str, output: str, thought: str = "", tokens: int = 0) -> str:
        self._calls += 1
        call = f"call_{self._calls}"
        metadata = {"anthropic": {"signature": "c2ln"}}
        thinking = [{"type": "reasoning", "text": thought, "metadata": metadata}] if thought else []
        state = {"status": "completed", "input": {"command": command}, "output": output, "time": {"start": 1}}
        used = {"input": tokens, "output": 9, "cache": {"read": 0, "write": 0}}
        tool = {"type": "tool", "tool": "bash", "callID": call, "state": state}
        parts: list[Form] = [{"type": "step-start"}, *thinking, tool, {"type": "step-finish"}]
        self._add("assistant", parts, tokens=used, finish="tool-calls")
        return call

    def _add(self, role: str, parts: list[Form], **info: Any) -> None:
        number = len(self.messages)
        about = {"id": f"msg_{number:04d}", "sessionID": self.session, "role": role}
        time = {"created": 1_800_000_000_000 + 1000 * number}
        self.messages.append({"info": {**about, "time": time, **info}, "parts": parts})


LISTS = {"pi": PiList, "opencode": OpencodeList}


def texts_of(message: Form) -> str:
    """Every text in a message that a model reads, one a line."""
    found: list[str] = []
    for part in message.get("content") or message.get("parts") or ():
        state = part.get("state") or {}
        found += [str(one) for one in (part.get("text"), state.get("output"), state.get("error")) if one]
    return "\n".join(found)
