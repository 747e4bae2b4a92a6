"""Session logs on disk: the protocol of a store, events as lines, and the engines (`files.py`, `sql.py`)."""
