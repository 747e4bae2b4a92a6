"""What a session did, derived from tool calls and their results by rule.

ledger.py             the ledger, and its text in a digest
shell.py, frames.py   parsed command lines; what harnesses write around their output
runners.py, checks.py which programs are checks, and what each of them covers
outcomes.py           whether checks passed
changes.py            which files changed
"""

from outlive.context.ledger.ledger import Ledger, brief_paths, facts

__all__ = ["Ledger", "brief_paths", "facts"]
