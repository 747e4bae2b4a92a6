"""The way out of an error, a problem or a limit, by its code: with the options and commands of the command line."""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from outlive.errors import OutliveError
from outlive.events import Denial

if TYPE_CHECKING:
    from outlive.stores.tasks.protocol import Problem

HINTS = {
    "add_dirs": "name one that exists: --add-dir DIR, or add_dirs in outlive.toml",
    "already_superseded": "{hint}: outlive memory log",
    "blocked_memory": "edit it, or: outlive memory confirm {name}",
    "complete_blocked": "finish what blocks it, or drop that: outlive task update ID --remove-blocked-by OTHER",
    "cycle": "to drop one of these dependencies: outlive task update ID --remove-blocked-by OTHER",
    "damaged_task": "{hint}: outlive task doctor",
    "drop_dependencies": "{hint}: outlive task update {id} {dropped}",
    "floor": "use a larger --context-window, fewer tools or a shorter request",
    "found_model": "for this once: --model {model}\n{hint}",
    "forgotten_memory": "to bring it back: outlive memory undo",
    "has_dependents": "cancel it instead, or drop the dependency: outlive task update OTHER --remove-blocked-by ID",
    "invalid_pattern": "--grep takes a regular expression, such as 'def .*parse'",
    "lease_length": "give a --ttl such as 15m, and extend it with: outlive task heartbeat",
    "lost_task": "{hint}; `outlive task delete --help` says how to go on without it",
    "max_cost": "--max-cost sets it",
    "max_time": "--max-time sets it",
    "max_tokens": "--max-tokens sets it",
    "max_turns": "--max-turns sets it",
    "default_turns": "that is the default without a terminal; --max-turns sets another",
    "memory_exists": "to replace it: outlive memory supersede NAME TEXT; or choose another name",
    "needs_confirmation": "only the user can agree to it, with --confirm",
    "no_repository": "{hint}: git init && git add --all && git commit",
    "no_id": "to create a plan without ids: outlive task create --batch FILE",
    "all_blocked": "waiting longer will not help: outlive task list shows what is open",
    "nothing_fits": "`outlive task ready` shows the ready ones",
    "nothing_ready_yet": "--wait waits for one",
    "own_lease": "{hint}: outlive task heartbeat {id}",
    "renumber": "--renumber gives the imported tasks new ids",
    "repair_memories": "{hint}: outlive memory doctor --repair",
    "repair_tasks": "{hint}: outlive task doctor --repair",
    "sandbox": "--no-sandbox runs commands without it",
    "session_busy": "{hint}: outlive session fork",
    "session_exists": "choose another --name",
    "smaller_limit": "its limit is smaller: set it with --context-window, or window in [context] of outlive.toml",
    "stale_lease": "{hint}: outlive task release {id} --owner {owner}",
    "store_elsewhere": "{hint} or --store URL",
    "unconfirmed_memory": "outlive memory confirm {name}, or: outlive memory forget {name}",
    "undo_conflict": "{hint}: outlive memory log, outlive memory undo {step}",
    "unknown_memory": "list them with: outlive memory list",
    "unknown_recording": "outlive rescue --list shows what there is",
    "unknown_session": "list them with: outlive session list",
    "unknown_step": "list them with: outlive memory log",
    "unknown_task": "list them with: outlive task list --all",
    "untrusted_work": "{hint}: outlive trust",
    "untrusted_memory": "look at it, then: outlive trust, or: outlive memory confirm {name}",
    "window": "--context-window sets it",
}
"""Takes the place of the error's own hint, which it may include."""


def shown(error: OutliveError) -> str:
    """An error as the command line tells it: what is wrong and the way out."""
    return _joined(error.message, _way_out(error.code, error.hint, error.data))


def remedy(problem: "Problem") -> str:
    """What to do about a problem, with the command that does it."""
    return _way_out(problem.code, problem.remedy, problem.data)


def with_flag(text: str, code: str) -> str:
    """A reason to stop, with the option that sets the limit."""
    return _joined(text, HINTS.get(code, ""))


class _Words(dict[str, str]):
    """Words for a template; a word that is not known is its own placeholder, `ID`."""

    def __missing__(self, name: str) -> str:
        return name.upper()


def _way_out(code: str, hint: str, data: Mapping[str, str | int | tuple[int, ...]]) -> str:
    words = _Words({name: _word(value) for name, value in data.items()}, hint=hint)
    return HINTS.get(code, "{hint}").format_map(words)


def _word(value: str | int | tuple[int, ...]) -> str:
    if isinstance(value, tuple):
        return " ".join(f"--remove-blocked-by {number}" for number in value)
    return shlex.quote(str(value))


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
