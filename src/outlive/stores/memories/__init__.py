"""Memories on disk: what a store offers (`protocol.py`), its records, and the engines: `files.py`, `sql.py`."""
