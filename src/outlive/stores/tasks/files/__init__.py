"""The default engine: plain files that people and git can read.

tasks.py        the engine: who may write when, and what is done before and after
transaction.py  reading and writing within one change, and its commit point
folder.py       what lies in `.tasks`, read once and then only where it changed
index.py        a derived copy of what was read, so that a new process need not read every file
history.py      the audit trail, an append-only file
journal.py      the commit point of a change of more than one file
disk.py         atomic writes, the writers' lock, errors of the operating system in words
parts.py        these four together, and the largest id given out
checkup.py      what can be wrong with a folder
names.py        names of task files
quick.py        ready tasks as JSON with little loaded
answer.py       the last such answer, remembered under the state of every file it follows from
log.py          session logs, one event a line
blobs.py        large texts by content
memory.py       memories, one Markdown file each, with memory_folder.py (reading) and memory_journal.py (committing)
"""
