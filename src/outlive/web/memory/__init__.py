"""Memories in the browser.

rows.py     memories as rows of a list, found by a query or by what they are
detail.py   one memory in full: where it came from, what it replaced and what replaced it
steps.py    the change log
refused.py  what does not reach a model, what sessions did not remember, and why
routes.py   the routes
"""
