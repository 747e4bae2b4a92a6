"""Answers while they arrive: what of their text is shown and kept (text.py), how long they may be (limit.py)."""
