"""Chaos for a fleet: machines that are killed, cut off or run on a wrong clock, while agents work, lie and loop.

Machines are folders with homes and checkouts of their own; they share a PostgreSQL server and a bare git remote, and
run real `outlive work` processes against a simulated model.

plan.py      the tasks, and what has to become of each
brain.py     plays their agents, deciding from each request alone
machines.py  starts, kills and stops machines
verdict.py   what must hold at the end
"""
