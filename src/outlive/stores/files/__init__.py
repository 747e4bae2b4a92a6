"""The default engine: plain files that people and git can read.

names.py     names of task files
disk.py      atomic writes, the writers' lock, errors of the operating system in words
folder.py    what lies in `.tasks`, read once and then only where it changed
index.py     a derived copy of what was read, so that a new process need not read every file
history.py   the audit trail, an append-only file
journal.py   the commit point of a change of more than one file
tasks.py     the engine itself
"""
