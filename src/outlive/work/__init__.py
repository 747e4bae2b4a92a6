"""The fleet's worker: takes ready tasks, gives each a worktree and a session, runs the agent, checks, commits, lands.

All of that is code; the model never claims, commits or completes. Many workers share one store, on one or many
machines.

worker.py      slots that claim and heartbeat, drain and end
attempt.py     one attempt at a task, from the claim to its end
overview.py    what the fleet does now, as data
shared/        what workers tell each other, in the documents of the store
repository/    git: worktrees, work in progress, landing
"""
