"""The context engine: from the log to the next request, and what to do when it no longer fits.

Everything in this package is pure: no I/O, no clock, no model, no randomness. `engine.Engine` is the door.

the log   units.py, pieces.py, words.py   cut into what is kept together, shown or left out; the user's words
          names.py, index.py, odds.py     names, their last mention, the odds of being needed again
          past.py, pages.py               all of that kept up to date; the log once more, in pages with handles
a pass    policy.py, budget.py, ladder.py which rung is due and how far it goes
          plan.py, choose.py              what stays: the tail, the words, the best lines
          spool.py, bones.py, digest.py   how what goes is shown
          protect.py, keeping.py          what goes last, and what the model asked to keep
          contract.py, receipts.py        checked before it counts; what it did
          byfile.py, left.py              lines of one file together; which units left, for people
a request view.py, valid.py, tokens.py    messages, whether providers accept them, how large they are
          stateblock.py, ledger/          the working state at the end, and what was done, by rule
around    directives.py, standing.py      what stands in the user's words for good
          summary.py, reactive.py
"""
