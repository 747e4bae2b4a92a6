"""The note that a new sprint starts from, by rule: what is planned, done, changed, failing and waiting."""

from outlive.context.ledger import Ledger, facts
from outlive.context.state_block import plan_text
from outlive.state import WorkingState


def handoff_note(state: WorkingState, ledger: Ledger, words: str = "") -> str:
    """What the last sprint leaves behind; `words` are the caller's own and come first."""
    parts = [
        words.strip(),
        f"Goal of the last sprint: {state.goal}" if state.goal else "",
        plan_text(state),
        f"Progress: {state.progress}" if state.progress else "",
        f"Blocked on: {state.blocked_on}" if state.blocked_on else "",
        facts(ledger),
    ]
    return "\n".join(filter(None, parts)) or "(nothing was left open)"
