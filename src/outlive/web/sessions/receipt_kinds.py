"""What the rows of a receipt say: tokens by kind, so that they add up to the total."""

from outlive.context.tokens import estimate
from outlive.events import Compacted

Kinds = dict[str, int]


def receipt_kinds(event: Compacted) -> tuple[Kinds, Kinds]:
    """Tokens by kind before and after a pass. Receipts of older versions lack the current request, and none counts
    the state blocks that stand between messages."""
    receipt = event.receipt
    before, after = dict(receipt.kinds_before), dict(receipt.kinds_after)
    if after:
        lacking = receipt.after - sum(after.values())
        request = min(round(estimate(event.request)), max(0, lacking))
        if request:
            after["user"] = after.get("user", 0) + request
    return _adding_up(before, receipt.before), _adding_up(after, receipt.after)


def _adding_up(kinds: Kinds, total: int) -> Kinds:
    """The kinds with what is missing to the total among the state blocks; what is too much is taken from there."""
    if not kinds:
        return kinds
    state = kinds.get("state", 0) + total - sum(kinds.values())
    found = {kind: tokens for kind, tokens in kinds.items() if kind != "state"}
    if state > 0:
        return found | {"state": state}
    largest = max(found, key=lambda kind: found[kind], default="digest")
    return found | {largest: found.get(largest, 0) + state}
