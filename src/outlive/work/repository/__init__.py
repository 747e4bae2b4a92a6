"""Git as the worker uses it.

git.py         runs git so that nothing of the repository is run along with it
checkout.py    the checkout, its target branch and its remote
repository.py  its worktrees
worktree.py    the worktree of a session: snapshots, handover, landing
"""
