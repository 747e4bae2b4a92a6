"""What the user is told when the provider's cache of a session has expired."""

from outlive.context.engine import Engine
from outlive.models.protocol import Price, Usage


def cold_notice(engine: Engine, price: Price | None) -> str:
    """Say what a pass saves on the next request, because the provider's cache has expired."""
    as_is, after = engine.used, engine.left_by_pass
    tokens = f"about {after:,} tokens instead of {as_is:,}"
    if price:
        costs = (price.of(Usage(cache_write=count)) for count in (after, as_is))
        tokens += " (${:.2f} instead of ${:.2f})".format(*costs)
    return f"the provider's cache has expired, so a pass comes before the next request: {tokens}"
