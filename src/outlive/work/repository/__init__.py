"""Git as the worker uses it.

git.py         runs git so that nothing of the repository is run along with it
repository.py  the checkout, its target branch and its remote
worktree.py    the worktree of a session: snapshots, handover, landing
"""
