"""The fleet's worker: takes ready tasks, gives each a worktree and a session, runs the agent, checks, commits, lands.

All of that is code; the model never claims, commits or completes. Many workers share one store, on one or many
machines.

worker.py      slots that claim and heartbeat, drain and end; start.py puts one together
attempts/      one attempt at a task, from the claim to its end
overview.py    what the fleet does now, as data; control.py what a person tells it
attaching.py   a person takes a task over; handover.py a person's session moves between machines
shared/        what workers tell each other, in the documents of the store
repository/    git: worktrees, work in progress, landing
"""
