"""Which files tools changed, with what they held before, so that a rewind can restore them.

snapshot.py   the files of a workspace at one moment, and a local cache of their contents
recorder.py   compares the workspace before and after a call, and logs the difference
restore.py    what to write to return to a moment of the session, and writing it
"""
