"""Choosing one row of a list: with search and preview in a terminal, by number without one.

rows.py     a row, and the search in rows
widget.py   the list in a terminal, as a part of a screen
by_line.py  the numbered list for plain lines
alone.py    both without a conversation around them
catalog.py  the models to choose from
"""

from outlive.cli.chat.picker.rows import Pick, PickerRow

__all__ = ["Pick", "PickerRow"]
