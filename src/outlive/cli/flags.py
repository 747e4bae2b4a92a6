"""What the command line says for the code of an error or a limit: the option or the command that helps."""

import shlex

from outlive.errors import OutliveError
from outlive.events import Denial

FLAGS = {
    "add_dirs": "--add-dir",
    "bad_pattern": "--grep",
    "complete_blocked": "--remove-blocked-by ID",
    "cycle": "--remove-blocked-by ID",
    "has_dependents": "--remove-blocked-by ID",
    "lease_length": "--ttl",
    "max_cost": "--max-cost",
    "max_time": "--max-time",
    "max_tokens": "--max-tokens",
    "max_turns": "--max-turns",
    "name_model": "--model openai:NAME",
    "needs_confirmation": "--confirm",
    "no_id": "outlive task create --batch",
    "no_model": "--model openai:NAME",
    "nothing_ready_yet": "--wait waits for one",
    "renumber": "--renumber",
    "repair": "--repair",
    "sandbox": "--no-sandbox",
    "smaller_limit": "--context-window",
    "stale_lease": "outlive task release ID --owner NAME",
    "store_elsewhere": "--store URL",
    "unknown_task": "outlive task list --all",
    "window": "--context-window",
}


def shown(error: OutliveError) -> str:
    """An error as the command line tells it."""
    return error.told(FLAGS)


def with_flag(text: str, code: str) -> str:
    """A reason to stop, with the option that sets the limit."""
    return f"{text} ({FLAGS[code]})" if code in FLAGS else text


def allowing(denial: Denial) -> str:
    """The options that would have allowed a call."""
    rules = " ".join(f"--allow {shlex.quote(rule)}" for rule in denial.rules)
    return ", or with ".join(filter(None, [rules, f"--permission-mode {denial.mode}"]))
