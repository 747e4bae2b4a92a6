"""The context engine: from the log to the next request, and what to do when it no longer fits.

Everything in this package is pure: no I/O, no clock, no model, no randomness. `engine.Engine` is the door.
"""
