"""The context engine: from the log to the next request, and what to do when it no longer fits.

Everything in this package is pure: no I/O, no clock, no model, no randomness. `Engine` is the way in;
`outlive.Conversation` takes messages of a provider's shape.

the log    units.py, pieces.py        cut into what is kept together, shown or left out
           history.py, pages.py       all of that kept up to date; the log in pages with handles
a pass     passes/                    ladder.py decides; the rest: what stays, what goes and how it is shown
           policy.py                  its numbers
           contract.py                checked before a pass counts
a request  view.py, validity.py       what is shown now, and whether providers accept it
           tokens.py                  how large they are
           state_block.py, ledger/    the working state, and what was done, by rule
around     summary.py                 summaries by a model
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlive.context.engine import Engine as Engine


def __getattr__(name: str) -> object:
    if name == "Engine":
        from outlive.context.engine import Engine

        return Engine
    raise AttributeError(f"module 'outlive.context' has no attribute {name!r}")
