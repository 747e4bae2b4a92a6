"""Sessions: the one place where log store and context engine are wired together.

session.py     open, resume, say, ask, compact, undo, renew
forking.py     a session that shares another's past
world.py       what the session has seen of files, git and processes, and what became of it
summary.py     a summary by a model, checked; the rules take over when it fails
handoff.py     the note that a renewal starts from
recall.py      exact text by handle, and search over sessions
replay.py      a recorded session played through the engine
"""

from outlive.agent.session import Session

__all__ = ["Session"]
