"""`outlive init`: what is written into the files of each client, and taken out again.

changes.py   a file before and after; written atomically, kept in a journal, undone byte for byte
merging.py   entries of ours in a JSON or TOML file of the user
targets.py   the clients: how each is detected, and what goes where
"""

from outlive.clients.setup.changes import SetupChange, applied, applied_before, undo_changes, undone
from outlive.clients.setup.targets import TARGETS, Target

__all__ = ["TARGETS", "SetupChange", "Target", "applied", "applied_before", "undo_changes", "undone"]
