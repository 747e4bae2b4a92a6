"""A client that sends whatever it is told to, and the requests that both providers accept."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlive.testing import Simulator

KEY = "test-key"
CHAT = "/v1/chat/completions"
CLAUDE = "claude-sonnet-5-5"
OLD_CLAUDE = "claude-haiku-4-5"
GPT = "gpt-5.4"
VERSION = "2026-10-21"
TOOL: Any = {
    "name": "bash",
    "description": "Run a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}
FUNCTION: Any = {"type": "function", "function": {"name": "bash", "parameters": TOOL["input_schema"]}}


@dataclass(frozen=True)
class Heard:
    """A reply, read to its end."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def error(self) -> Any:
        return self.body["error"]

    @property
    def events(self) -> list[tuple[str, Any]]:
        """The events of a stream: name and data; OpenAI's have no name."""
        found = []
        for block in self.raw.decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            if "data" in fields:
                data = fields["data"]
                found.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
        return found


def send(sim: Simulator, path: str, body: Any, headers: Mapping[str, str], method: str = "POST") -> Heard:
    """One request over a connection of its own."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(sim.url.removeprefix("http://"), timeout=300)
    try:
        connection.request(method, path, None if method == "GET" else raw, dict(headers))
        reply = connection.getresponse()
        return Heard(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
    finally:
        connection.close()


def ask_claude(
    sim: Simulator, body: Any, *, path: str = "/v1/messages", version: str = VERSION, beta: str = ""
) -> Heard:
    headers = {"x-api-key": KEY, "anthropic-version": version, "content-type": "application/json"}
    return send(sim, path, body, headers | ({"anthropic-beta": beta} if beta else {}))


def ask_gpt(sim: Simulator, body: Any, *, path: str = CHAT) -> Heard:
    return send(sim, path, body, {"authorization": f"Bearer {KEY}"})


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": blocks(*content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": blocks(*content)}


def system(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "system", "content": content, **more}


def blocks(*content: Any) -> list[dict[str, Any]]:
    return [text(one) if isinstance(one, str) else one for one in content]


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def use(call_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "bash", "input": {"command": "ls"}, **more}


def result(call_id: str, content: Any = "a.txt", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A request that is accepted, unless what is given is not."""
    return {"model": CLAUDE, "max_tokens": 1000, "messages": list(messages) or [user("hello")], **more}


def gpt(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A request that is accepted, unless what is given is not."""
    return {"model": GPT, "messages": list(messages) or [{"role": "user", "content": "hello"}], **more}


def gpt_calls(*ids: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": '{"command":"ls"}'}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": one, "type": "function", "function": function} for one in ids],
    }


def gpt_result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "a.txt"}
