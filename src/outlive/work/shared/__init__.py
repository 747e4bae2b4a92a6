"""What the workers of a fleet tell each other, as documents of their store.

records.py    the documents
board.py      reads and changes them
keys.py       concurrency keys: how many may work on the same thing
budgets.py    what was spent and what may be
pace.py       a provider that asks to slow down slows everybody; wrapped.py a model around another one
schedules.py  tasks that come again
"""
