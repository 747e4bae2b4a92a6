"""The task graph as plain files that people and git can read.

store.py        the engine: who may write when, and what is done before and after
transaction.py  reading and writing within one change, and its commit point
folder.py       the task files and the graph that follows from them, on `stores/record_folder.py`
history.py      the audit trail, an append-only file
problems.py     what can be wrong with a folder
names.py        names of task files
"""
