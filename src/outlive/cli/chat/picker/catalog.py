"""The models a user can choose from: named in the settings, of providers with a key, of local servers."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from outlive.models import resolve
from outlive.models.anthropic import model as anthropic
from outlive.models.openai import model as openai
from outlive.models.prices import KNOWN, facts
from outlive.models.protocol import Price


class CatalogEntry(Struct, frozen=True):
    """A model that can be chosen by its `spec`."""

    spec: str
    where: str
    """Whose it is, or why it is listed."""
    window: int = 0
    price: Price | None = None


def catalog(environment: Mapping[str, str], named: Iterable[str] = ()) -> list[CatalogEntry]:
    """All models that can be used with these keys and addresses, `named` ones first. Asks local servers."""
    entries = [*map(_named, filter(None, named)), *_known(environment), *_local(environment)]
    first: dict[str, CatalogEntry] = {}
    for entry in entries:
        first.setdefault(entry.spec, entry)
    return list(first.values())


def _named(spec: str) -> CatalogEntry:
    known = facts(spec.rpartition(":")[2])
    return CatalogEntry(spec, "in the settings", known.window, known.price)


def _known(environment: Mapping[str, str]) -> Iterator[CatalogEntry]:
    """The models with known prices of each provider that has a key."""
    claude = bool(environment.get(anthropic.KEY) or environment.get(anthropic.TOKEN))
    gpt = bool(environment.get(openai.KEY)) and not environment.get(openai.ADDRESS)
    for name, known in KNOWN.items():
        if claude if name.startswith("claude") else gpt:
            provider, where = ("anthropic", "Anthropic") if name.startswith("claude") else ("openai", "OpenAI")
            yield CatalogEntry(f"{provider}:{name}", where, known.window, known.price)


def _local(environment: Mapping[str, str]) -> Iterator[CatalogEntry]:
    """The models of the server at OPENAI_BASE_URL, else of local servers, as far as a spec leads to them."""
    if address := environment.get(openai.ADDRESS):
        found = resolve.models_at(address)
    else:
        found = [] if environment.get(openai.KEY) else resolve.nearby(environment)
    for model in found:
        yield CatalogEntry(f"openai:{model.name}", model.server or model.address, model.window)
