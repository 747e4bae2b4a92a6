"""What the command line says for the code of an error or a limit: the way out, with its options and commands."""

import shlex

from outlive.errors import OutliveError
from outlive.events import Denial

HINTS = {
    "add_dirs": "name one that exists: --add-dir DIR, or add_dirs in outlive.toml",
    "invalid_pattern": "--grep takes a regular expression, such as 'def .*parse'",
    "complete_blocked": "finish what blocks it, or drop that: outlive task update ID --remove-blocked-by OTHER",
    "cycle": "to drop one of these dependencies: outlive task update ID --remove-blocked-by OTHER",
    "floor": "use a larger --context-window, fewer tools or a shorter request",
    "has_dependents": "cancel it instead, or drop the dependency: outlive task update OTHER --remove-blocked-by ID",
    "lease_length": "give a --ttl such as 15m, and extend it with: outlive task heartbeat",
    "max_cost": "--max-cost sets it",
    "max_time": "--max-time sets it",
    "max_tokens": "--max-tokens sets it",
    "max_turns": "--max-turns sets it",
    "default_turns": "that is the default without a terminal; --max-turns sets another",
    "memory_exists": "to replace it: outlive memory supersede NAME TEXT; or choose another name",
    "needs_confirmation": "only the user can agree to it, with --confirm",
    "no_id": "to create a plan without ids: outlive task create --batch FILE",
    "all_blocked": "waiting longer will not help: outlive task list shows what is open",
    "nothing_ready_yet": "--wait waits for one",
    "renumber": "--renumber gives the imported tasks new ids",
    "repair": "{hint}, with --repair",
    "sandbox": "--no-sandbox runs commands without it",
    "session_exists": "choose another --name",
    "smaller_limit": "its limit is smaller: set it with --context-window, or window in [context] of outlive.toml",
    "stale_lease": "{hint}: outlive task release ID --owner NAME",
    "store_elsewhere": "{hint} or --store URL",
    "unknown_recording": "outlive rescue --list shows what there is",
    "unknown_task": "list them with: outlive task list --all",
    "window": "--context-window sets it",
}
"""Takes the place of the error's own hint, which it may include."""


def shown(error: OutliveError) -> str:
    """An error as the command line tells it: what is wrong and the way out."""
    hint = HINTS.get(error.code, "{hint}").format(hint=error.hint)
    return _joined(error.message, hint)


def with_flag(text: str, code: str) -> str:
    """A reason to stop, with the option that sets the limit."""
    return _joined(text, HINTS.get(code, ""))


def _joined(text: str, hint: str) -> str:
    """One sentence, or two if the text has several already."""
    if not hint:
        return text
    if ". " not in text:
        return f"{text}; {hint}"
    return f"{text}{'' if text[-1] in '.?' else '.'} {hint[0].upper()}{hint[1:]}"


def allowing(denial: Denial) -> str:
    """The options that would have allowed a call."""
    rules = " ".join(f"--allow {shlex.quote(rule)}" for rule in denial.rules)
    return ", or with ".join(filter(None, [rules, f"--permission-mode {denial.mode}"]))
