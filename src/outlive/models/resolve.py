"""Which model to use: by option, by environment, or from a local server."""

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from outlive.config.dotenv import GOES_TO
from outlive.models.anthropic import model as anthropic
from outlive.models.errors import ModelNotSetUp
from outlive.models.openai import model as openai
from outlive.models.protocol import Model
from outlive.models.retry import Fallback, Retrying

USUAL_CLAUDE, USUAL_GPT = "claude-sonnet-5-5", "gpt-6-sol"
PROVIDERS = ("anthropic", "openai")
LOCAL_PORTS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
PROBE_SECONDS = 0.3
"""Seconds for a local server to list its models."""
MAX_LISTING_BYTES = 2_000_000
_GPT = re.compile(r"gpt-\d|o[134](?:-|$)|chatgpt-|codex-")
_NOT_CHAT = re.compile(r"embed|rerank|whisper|tts|bge-|minilm", re.IGNORECASE)
SETUP_HELP = """\
with a key: export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=… (in .env too, after: outlive trust)
to see it work without one: outlive demo
with a local server (`ollama serve`, and a model that calls tools): export MODEL_ID=openai:NAME"""


class Local(Struct, frozen=True):
    """A model of a local server."""

    server: str
    address: str
    name: str
    window: int = 0


def resolve(spec: str | None, *, environment: Mapping[str, str], fallback: str | None = None) -> Model:
    """The model to use, with retries, and with a fallback if one is named."""
    spec = (spec or environment.get("MODEL_ID") or "").strip()
    first = Retrying(_named(spec, environment) if spec else _found(environment))
    second = (fallback or environment.get("OUTLIVE_FALLBACK") or "").strip()
    return Fallback(first, Retrying(_named(second, environment))) if second else first


def parse(spec: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Provider and name of `anthropic:NAME`, `openai:NAME`, or of a name that implies the provider."""
    provider, _, name = spec.partition(":")
    if provider in PROVIDERS:
        if not name.strip():
            raise ModelNotSetUp(f"{spec!r} names no model; write {provider}:NAME")
        return provider, name.strip()
    if spec.startswith("claude"):
        return "anthropic", spec
    if _GPT.match(spec) or environment.get(openai.ADDRESS):
        return "openai", spec
    raise ModelNotSetUp(f"{spec!r} does not say whose model it is; write anthropic:{spec} or openai:{spec}")


def _named(spec: str, environment: Mapping[str, str]) -> Model:
    provider, name = parse(spec, environment)
    if provider == "anthropic":
        return anthropic.AnthropicModel(name, environment=environment)
    if environment.get(openai.KEY) or environment.get(openai.ADDRESS):
        return openai.OpenAIModel(name, environment=environment)
    here = nearby(environment)
    if found := next((model for model in here if model.name in (name, f"{name}:latest")), None):
        return _local(found, environment)
    suggestion = f"; on this machine there is {', '.join(model.name for model in here)}" if here else ""
    raise ModelNotSetUp(
        f"openai:{name} needs {openai.KEY}, or {openai.ADDRESS} of the server that has it{suggestion}"
    )


def _found(environment: Mapping[str, str]) -> Model:
    """The default model: by key, by address, or from a local server."""
    if environment.get(anthropic.KEY) or environment.get(anthropic.TOKEN):
        return anthropic.AnthropicModel(USUAL_CLAUDE, environment=environment)
    if environment.get(openai.ADDRESS):
        return _first_at(environment[openai.ADDRESS], environment)
    if environment.get(openai.KEY):
        return openai.OpenAIModel(USUAL_GPT, environment=environment)
    here = nearby(environment)
    if not here:
        raise ModelNotSetUp("no model is set up", hint=SETUP_HELP, code="no_model")
    return _local(here[0], environment)


def _first_at(address: str, environment: Mapping[str, str]) -> Model:
    """The first model of a local server; for a remote one the user has to choose."""
    models = listed("", address) if address.startswith("http://") else []
    if not models:
        raise ModelNotSetUp(
            f"{openai.ADDRESS} is set, but no model", hint="name one: MODEL_ID=openai:NAME", code="name_model"
        )
    return openai.OpenAIModel(models[0].name, environment=environment, window=models[0].window)


def _local(model: Local, environment: Mapping[str, str]) -> Model:
    """A model of a local server, which gets neither key nor headers: they are for another server."""
    rest = {name: value for name, value in environment.items() if name not in GOES_TO[openai.ADDRESS]}
    return openai.OpenAIModel(model.name, environment={**rest, openai.ADDRESS: model.address}, window=model.window)


def nearby(environment: Mapping[str, str]) -> list[Local]:
    """The models of local servers, unless the user has turned them off."""
    return [] if environment.get("OUTLIVE_LOCAL_MODELS") == "off" else local_models()


def local_models(ports: Mapping[str, int] = LOCAL_PORTS, timeout: float = PROBE_SECONDS) -> list[Local]:
    """The models of the usual local servers, queried in parallel; in the order of `ports`."""
    with ThreadPoolExecutor(len(ports)) as pool:
        answers = pool.map(lambda entry: listed(entry[0], f"http://127.0.0.1:{entry[1]}/v1", timeout), ports.items())
        return [model for models in answers for model in models]


def listed(server: str, address: str, timeout: float = PROBE_SECONDS) -> list[Local]:
    """The models of the server at an address; empty if there is none or its answer is invalid."""
    try:
        place = urlsplit(address)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=timeout)
    except (ValueError, HTTPException):
        return []
    try:
        connection.request("GET", f"{place.path.rstrip('/')}/models")
        answer = connection.getresponse()
        form = json.loads(answer.read(MAX_LISTING_BYTES)) if answer.status == 200 else {}
    except (OSError, HTTPException, ValueError, RecursionError):
        return []
    finally:
        connection.close()
    listed = form.get("data") if isinstance(form, dict) else None
    models = (
        [model for model in listed if isinstance(model, dict) and model.get("id")] if isinstance(listed, list) else []
    )
    return [
        Local(server, address, str(model["id"]), _window(model))
        for model in models
        if not _NOT_CHAT.search(str(model["id"]))
    ]


def _window(model: Mapping[str, Any]) -> int:
    """The context window if the server reports it, else 0."""
    length = model.get("max_model_len")
    return length if isinstance(length, int) else 0
