"""One attempt at a task.

attempt.py   its course, from the claim to its completion or to the reason why it ended before
held.py      what may be written about a task under its lease
opening.py   the agent of a task; tools.py what it may do to the graph
brief.py     what the agent is told
checks.py landing.py   what has to pass, and how work gets to the target branch
keeping.py places.py   where its files are kept, and made again
spending.py endings.py
"""
