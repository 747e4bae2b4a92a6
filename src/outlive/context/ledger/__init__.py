"""What was done, read off the tool calls and their results by rule.

ledger.py             the ledger itself, and what the digest says of it
shell.py, frames.py   command lines taken apart; what harnesses write around their output
runners.py, checks.py which programs check something, and how much of it
outcomes.py           how checks ended
changes.py            which files were changed
"""

from outlive.context.ledger.ledger import Ledger, brief_paths, facts

__all__ = ["Ledger", "brief_paths", "facts"]
