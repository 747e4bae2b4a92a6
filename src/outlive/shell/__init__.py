"""Command lines of bash, read by tree-sitter's grammar. Both readers below work on the same parse.

strict.py   for permission rules: every byte of the line is accounted for, or the line counts as not understood
lenient.py  for the ledger: the programs of any line, as far as they can be told
tree.py     the parse itself

tree-sitter recovers from errors in time and memory that grow with the square of the input, and cannot be stopped from
Python, so each reader bounds what it hands over: first by size, then by what the line may consist of.
"""
