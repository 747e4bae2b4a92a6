"""What was learned, across sessions and projects. `Memories` (memories.py) is the entry point.

memories.py           add, update, supersede, forget, undo, over a project's store and the user-wide one
refs.py               finding a memory by name; comparing texts
supersession.py       which memory hides which, and what is forgotten together
changelog.py          the change log in words and as diffs, and undoing a step
index.py              MEMORY.md: one line each, capped, naming what it leaves out
prompt_block.py       the block that shows memories in a request, as quoted data
guard.py              what a memory may not contain, and what only the user may say
learning/             what a session teaches: from words in a log to candidates
consolidate.py        when a consolidation is due, and doing it as one step
operations.py         what it changes: by rules, and by operations that a model chooses
transfer.py           export, import, folders of other tools
doctor.py             what can be wrong
search.py             finding memories, and a second look by a model
retrieval/            finding by words and by meaning
"""
