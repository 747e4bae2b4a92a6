"""The simulator: it refuses or answers requests and records them."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Self, TypeAlias

import msgspec

from outlive.testing.simulator import local
from outlive.testing.simulator.answer import Answer, characters_for, cut_to
from outlive.testing.simulator.anthropic.side import AnthropicSide
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.cache import CachedPiece, PromptCache
from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.models import KNOWN, SimulatedModel
from outlive.testing.simulator.openai.responses_side import ResponsesSide
from outlive.testing.simulator.openai.side import OpenAISide
from outlive.testing.simulator.play import Play
from outlive.testing.simulator.schedule import Faults
from outlive.testing.simulator.seen import RESPONSES_COMPACT, ReportedUsage, SeenRequest
from outlive.testing.simulator.server import Server, WireReply
from outlive.testing.simulator.steps import Step
from outlive.testing.simulator.summary import Summarize, first_words
from outlive.testing.simulator.tokens import compact, tokens_of
from outlive.testing.simulator.verdict import CheckedRequest, Refusal, RuleBroken

Brain: TypeAlias = Callable[[SeenRequest], Step]
Side: TypeAlias = AnthropicSide | OpenAISide | ResponsesSide
MESSAGES, COUNT, CHAT, MODELS = "/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/models"
RESPONSES = "/v1/responses"
MAX_REQUEST_BYTES = 32 * 1024 * 1024  # Anthropic's limit
ENFORCED = "enforced"
BINDINGS = (ENFORCED, "reported")


class Simulator:
    """A server on loopback that speaks three APIs, refuses what they refuse, and answers from a script or a brain."""

    def __init__(
        self,
        script: Iterable[Step] | None = None,
        brain: Brain | None = None,
        *,
        window: int = 200_000,
        key: str | None = "test-key",
        clock: Callable[[], float] = time.monotonic,
        models: Iterable[SimulatedModel] = KNOWN,
        cache_minimum: int = 1024,
        largest_body: int = MAX_REQUEST_BYTES,
        port: int = 0,
        binding: str = ENFORCED,
        summary: Summarize = first_words,
        server: str = "",
    ) -> None:
        """Give a script or a brain. `key=None` takes any key or none, as local servers do.

        `binding`: whether thinking that fails the binding check is refused (`"enforced"`), or shown to the model and
        only reported (`"reported"`), as for older accounts. `summary`: makes the text of a compaction, or None if
        the compaction fails. `server`: also says its window as `llama.cpp`, `vllm`, `lmstudio` or `ollama` does.
        """
        if binding not in BINDINGS:
            raise ValueError(f"binding is one of {', '.join(BINDINGS)}, and not {binding!r}")
        if server and server not in local.ENDPOINTS:
            raise ValueError(f"server is one of {', '.join(local.ENDPOINTS)}, and not {server!r}")
        self.window = window
        self._server_kind = server
        self._models = tuple(models)
        self.key = key
        self.faults = Faults()
        self.requests: list[SeenRequest] = []
        """Every valid request, in order, also those with a fault."""
        self.refusals: list[Refusal] = []
        """Every request that broke a rule."""
        self._play = Play(script, brain)
        self._summary = summary
        known = {model.name: model for model in self._models}
        self._anthropic = AnthropicSide(known, Signer(key or ""), enforced=binding == ENFORCED)
        self._openai = OpenAISide(known)
        self._responses = ResponsesSide(known, Signer(key or ""))
        self._cache = PromptCache(clock, cache_minimum)
        self._lock = threading.Lock()
        self._replies = 0
        self._port = port
        self._largest = largest_body
        self._server: Server | None = None

    def start(self) -> Self:
        """Start serving; `with` does it too."""
        self._server = Server(self._port, self._largest, self._handle)
        self._server.start()
        self._port = self._server.port
        return self

    def close(self) -> None:
        """Stop serving and end all threads and sockets. It may be started again, on the same port."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The address of the running server; the OpenAI SDK needs `/v1` after it."""
        if not self._port:
            raise RuntimeError("the simulator has no address before it is started: use `with Simulator(…) as sim`")
        return f"http://127.0.0.1:{self._port}"

    def env(self) -> dict[str, str]:
        """Return the environment variables that point both SDKs to this server."""
        key = self.key or "any"
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": key,
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": key,
        }

    @property
    def usage(self) -> ReportedUsage:
        """The sum of all reported usage."""
        return sum((request.usage for request in self.requests if request.usage), ReportedUsage())

    def verify(self) -> None:
        """Raise AssertionError unless the script was played exactly to its end."""
        self._play.verify()

    def _handle(self, method: str, path: str, headers: Mapping[str, str], raw: bytes | None) -> WireReply:
        with self._lock:
            self._replies += 1
            request_id = f"req_{self._replies:06d}"
        path = path.rstrip("/")
        side = self._side(path, headers)
        try:
            reply = self._answer(side, method, path, headers, raw, request_id)
        except RuleBroken as refused:
            self.refusals.append(
                Refusal(side.name, path, refused.status, refused.message, refused.code, _readable(raw))
            )
            reply = _error(side, refused, request_id)
        except Exception as error:  # noqa: BLE001 - what a brain does wrong is told by `verify`
            self._play.report(f"{method} {path} failed: {type(error).__name__}: {error}", error)
            reply = _error(side, RuleBroken(f"the simulator failed: {error}", 500), request_id)
        return replace(reply, headers={**reply.headers, "request-id": request_id, "x-request-id": request_id})

    def _side(self, path: str, headers: Mapping[str, str]) -> Side:
        if path.startswith(MODELS):
            return self._anthropic if "anthropic-version" in headers else self._openai
        if path in (RESPONSES, RESPONSES_COMPACT):
            return self._responses
        return self._anthropic if path.startswith(MESSAGES) else self._openai

    def _answer(
        self, side: Side, method: str, path: str, headers: Mapping[str, str], raw: bytes | None, request_id: str
    ) -> WireReply:
        if raw is None:
            raise RuleBroken("Request exceeds the maximum allowed number of bytes.", 413)
        given = side.key_of(headers)
        if self.key is not None and given != self.key:
            raise side.refuse_key(given)
        if path == MODELS or path.startswith(MODELS + "/"):
            _only(method, "GET")
            return _whole(self._listing(side, path[len(MODELS) + 1 :]))
        if tell := local.ENDPOINTS.get(self._server_kind, {}).get(path):
            return _whole(tell(self._models[0].name, self.window))
        if path not in (MESSAGES, COUNT, CHAT, RESPONSES, RESPONSES_COMPACT):
            raise RuleBroken(f"Not found: {path}", 404)
        _only(method, "POST")
        body = _parsed(raw)
        checked = side.check(path, headers, body)
        pieces = side.pieces(checked.shown)
        used = tokens_of(sum(piece.characters for piece in pieces))
        if path == COUNT:
            return _whole({"input_tokens": used})
        if used > self.window:
            raise side.too_long(used, self.window)
        request = self._seen(side, path, headers, body, checked)
        mark = hashlib.sha256(raw + f"#{request.number}".encode()).hexdigest()[:24]
        return self._respond(side, request, pieces, mark, request_id)

    def _listing(self, side: Side, name: str) -> dict[str, Any]:
        listing = side.models(name, self.window)
        return local.listed(self._server_kind, listing, self.window) if self._server_kind and not name else listing

    def _seen(
        self, side: Side, path: str, headers: Mapping[str, str], body: dict[str, Any], checked: CheckedRequest
    ) -> SeenRequest:
        with self._lock:
            request = SeenRequest(len(self.requests) + 1, side.name, path, body, headers)
            request.dropped, request.mismatched = checked.dropped, checked.mismatched
            self.requests.append(request)
        request.fault = self.faults.take(request)
        return request

    def _respond(
        self, side: Side, request: SeenRequest, pieces: list[CachedPiece], mark: str, request_id: str
    ) -> WireReply:
        fault = request.fault
        if fault and fault.only_openai and side.name != "openai":
            self._play.report(
                f"the fault {fault.name!r} is OpenAI's, and met request {request.number} of {side.name}"
            )
        if fault and fault.name == "status":
            return _error(side, RuleBroken(fault.message, fault.code), request_id, fault)
        if fault and fault.name == "too long":
            return _error(side, side.too_long(fault.used, fault.limit), request_id)
        if fault and fault.name == "error event" and not request.body.get("stream"):
            return _error(side, RuleBroken(fault.message, fault.code), request_id)
        answer = self._answered(side, request, mark)
        if answer is None:
            return _error(side, RuleBroken("", 500), request_id)
        answer = self._billed(side, request, pieces, _stopped(side, request, answer))
        return self._written(side, request, answer, request_id)

    def _answered(self, side: Side, request: SeenRequest, mark: str) -> Answer | None:
        """Return the answer, which takes a step of the script unless it is a summary; None if there is none."""
        if request.compacts:
            return side.compacted(self._summary(request) or "", mark, request)
        step = self._play.step(request, silent=side.most_output(request.body) == 0)
        return side.answer(step, mark, request, request.fault)

    def _billed(self, side: Side, request: SeenRequest, pieces: list[CachedPiece], answer: Answer) -> Answer:
        """Add the usage to request and answer. A stream that breaks is billed too."""
        usage = side.bill(self._cache, f"{side.name} {request.model}", pieces, request.body)
        usage = replace(usage, output=answer.output_tokens)
        request.usage = usage
        return replace(answer, usage=usage)

    def _written(self, side: Side, request: SeenRequest, answer: Answer, request_id: str) -> WireReply:
        fault = request.fault
        delay = fault.delay if fault else 0.0
        cut = fault.events if fault and fault.name == "cut" else None
        within = bool(fault and fault.within_line)
        if not request.body.get("stream"):
            return WireReply(200, compact(side.whole(answer)), delay=delay, cut=cut)
        events = tuple(side.events(answer, request.body))
        if fault and fault.name == "error event":
            error = side.error(RuleBroken(fault.message, fault.code), request_id)
            events = (*events[: fault.events], side.error_event(error))
        return WireReply(200, events=events, delay=delay, cut=cut, within_line=within)


def _stopped(side: Side, request: SeenRequest, answer: Answer) -> Answer:
    """Apply what ends an answer early: a fault, or the length that the request allows."""
    name = request.fault.name if request.fault else ""
    if name == "empty":
        return replace(answer, parts=(), stop="end")
    if name == "refusal":
        return replace(answer, parts=(), stop="refusal")
    if name == "length" and request.fault:
        answer = cut_to(answer, request.fault.characters)
    most = side.most_output(request.body)
    if most == 0:
        answer = replace(answer, stop="length")
    elif most is not None:
        answer = cut_to(answer, characters_for(most))
    return replace(answer, parts=()) if answer.compacts and answer.stop == "length" else answer


def _only(method: str, wanted: str) -> None:
    if method != wanted:
        raise RuleBroken("Method Not Allowed", 405)


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RuleBroken(f"The request body is not valid JSON: {error}") from None
    if not isinstance(body, dict):
        raise RuleBroken("The request body is not valid JSON: expected an object")
    return body


def _readable(raw: bytes | None) -> Any:
    try:
        return msgspec.json.decode(raw or b"null")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _whole(body: dict[str, Any]) -> WireReply:
    return WireReply(200, compact(body))


def _error(side: Side, refused: RuleBroken, request_id: str, fault: Fault | None = None) -> WireReply:
    headers = {}
    if fault and fault.retry_after is not None:
        seconds = fault.retry_after
        in_ms = {"retry-after-ms": f"{seconds * 1000:g}"}
        headers = in_ms if fault.in_milliseconds else {"retry-after": f"{seconds:g}"}
    return WireReply(refused.status, compact(side.error(refused, request_id)), headers=headers)
