"""Replays of recorded sessions in the browser: nothing of them is kept once the server ends.

recordings.py  transcripts that were dropped into the page, or sessions of the workspace, parsed
survival.py    how much of what the agent used next was in its request
runs.py        a recording played under several policies, in a thread, with progress and an end
routes.py      the routes
"""
