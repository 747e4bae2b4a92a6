"""The task graph as plain files that people and git can read.

store.py        the engine: who may write when, and what is done before and after
transaction.py  reading and writing within one change, and its commit point
folder.py       what lies in `.tasks`, read once and then only where it changed
index.py        a derived copy of what was read, so that a new process need not read every file
history.py      the audit trail, an append-only file
journal.py      the commit point of a change of more than one file
parts.py        these together, and the largest id given out
checkup.py      what can be wrong with a folder
names.py        names of task files
quick.py        ready tasks as JSON with little loaded
answer.py       the last such answer, remembered under the state of every file it follows from
watching.py     which files were touched
"""
