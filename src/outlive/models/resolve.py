"""Which model to use: by option, by environment, or from a local server."""

import re
from collections.abc import Mapping

from outlive.config.dotenv import GOES_TO
from outlive.models.anthropic import model as anthropic
from outlive.models.errors import ModelNotSetUp
from outlive.models.local_servers import (
    PROBE_SECONDS,
    ServedModel,
    in_time,
    listed,
    local_models,
    served_window,
)
from outlive.models.openai import model as openai
from outlive.models.openai.versions import is_official
from outlive.models.prices import facts
from outlive.models.protocol import Model
from outlive.models.retry import Fallback, Retrying

USUAL_CLAUDE, USUAL_GPT = "claude-sonnet-5-5", "gpt-6-sol"
PROVIDERS = ("anthropic", "openai")
_GPT = re.compile(r"gpt-\d|o[134](?:-|$)|chatgpt-|codex-")
SWITCH = "OUTLIVE_LOCAL_MODELS"
FOUND_CODE = "found_model"
"""Code of the error that names a server which was found, but was not asked for."""
SETUP_HELP = """\
with a key: export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=… (in .env too, after: outlive trust)
to see it work without one: outlive demo
with a local server (`ollama serve`, and a model that calls tools): export MODEL_ID=openai:NAME"""


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
        return _at_address(name, environment)
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
    if environment.get(SWITCH) != "on":
        where = f"{here[0].server} seems to listen at {here[0].address}"
        raise ModelNotSetUp(
            f"no model is set up. {where}; nothing is sent there unasked",
            hint=f"to use it: export MODEL_ID=openai:{here[0].name}\n"
            f"to use what is found there from now on: export {SWITCH}=on",
            code=FOUND_CODE,
            model=f"openai:{here[0].name}",
        )
    return _local(here[0], environment)


def offered(spec: str | None, environment: Mapping[str, str]) -> ServedModel | None:
    """A model of a server on this machine to ask the user about: nothing else is set up, and no setting decides."""
    names = ("MODEL_ID", anthropic.KEY, anthropic.TOKEN, openai.ADDRESS, openai.KEY, SWITCH)
    return None if spec or any(map(environment.get, names)) else next(iter(local_models()), None)


def _at_address(name: str, environment: Mapping[str, str]) -> openai.OpenAIModel:
    """A model at OpenAI or at `OPENAI_BASE_URL`, whose server says how large the window is."""
    address = environment.get(openai.ADDRESS, "")
    if not address or is_official(address) or facts(name).window:
        return openai.OpenAIModel(name, environment=environment)
    window = served_window(address, name, key=environment.get(openai.KEY, ""))
    model = openai.OpenAIModel(name, environment=environment, window=window.tokens)
    model.window_origin = window.origin
    return model


def _first_at(address: str, environment: Mapping[str, str]) -> Model:
    """The first model of a local server; for a remote one the user has to choose."""
    models = models_at(address)
    if not models:
        raise ModelNotSetUp(
            f"{openai.ADDRESS} is set, but no model", hint="name one: MODEL_ID=openai:NAME", code="name_model"
        )
    return _at_address(models[0].name, environment)


def models_at(address: str) -> list[ServedModel]:
    """The models of a local server at an address; empty for another server, or if it does not answer in time."""
    none: list[ServedModel] = []
    if not address.startswith("http://"):
        return none
    return in_time(lambda: listed("", address, PROBE_SECONDS), PROBE_SECONDS, none)


def _local(model: ServedModel, environment: Mapping[str, str]) -> Model:
    """A model of a local server, which gets neither key nor headers: they are for another server."""
    rest = {name: value for name, value in environment.items() if name not in GOES_TO[openai.ADDRESS]}
    found = _at_address(model.name, {**rest, openai.ADDRESS: model.address})
    found.found_at = f"{model.server} at {model.address}"
    return found


def nearby(environment: Mapping[str, str]) -> list[ServedModel]:
    """The models of local servers, unless the user has turned them off."""
    return [] if environment.get(SWITCH) == "off" else local_models()
