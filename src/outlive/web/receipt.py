"""The receipt of a pass as pages show it."""

from typing import Any

from outlive.events import Compacted


def receipt_facts(made: Compacted) -> dict[str, Any]:
    """What a pass did, as JSON."""
    receipt = made.receipt
    return {
        "rungs": receipt.rungs,
        "reason": receipt.reason,
        "before": receipt.before,
        "after": receipt.after,
        "folded": receipt.units_folded,
        "shrunk": receipt.units_shrunk,
        "lines": receipt.lines_kept,
        "handles": len(receipt.handles),
    }
