"""What needs the engine: it is replayed from the log, of which every earlier view is a pure function.

replay.py       one engine a log, and the view at any request
rows.py         a view block by block
passes.py       what a pass changed and what left; pairs.py two views side by side; kept_lines.py why a line was kept
answers.py      the answers of the routes
"""
