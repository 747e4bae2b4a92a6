"""The task graph on disk: what a store offers (`protocol.py`), its records, and the engines: `files/`, `sql.py`."""
