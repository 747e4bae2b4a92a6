"""Memory in a session.

session_memory.py           what is relevant comes with the user's words, what was learned is kept
consolidation_scheduler.py  when memories are put in order
"""
