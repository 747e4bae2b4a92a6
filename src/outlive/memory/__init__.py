"""What was learned, across sessions and projects. `Memories` (book.py) is the door.

book.py         add, update, supersede, forget, undo: the rules, over a project's store and the user-wide one
links.py        what hides what, and what goes with what
lookup.py       finding a memory by name; what is known already
steps.py        the change log in words and as diffs, and what undoing a step means
index.py        MEMORY.md: one line each, capped, naming what it leaves out
inject.py       the block in which memories stand in a request, as quoted data
guard.py        what a memory may not contain, and what only the user may say
extract.py      what a session taught, with a model and without
spoken.py       what the user asks to remember, and standing corrections, by rule
said.py         who said what in a log, without what the harness put there
whose.py        whose words a text is made of
consolidate.py  when it is due, and doing it as one step; merging.py by rules, rewriting.py with a model
similar.py      when two texts say the same; order.py and sides.py what the order of words says
dates.py        "yesterday" as a date
transfer.py     export, import, folders of other tools
doctor.py       what can be wrong
search.py       the retriever over a book
rerank.py       a second look by a model
retrieval/      finding by words and by meaning
"""
