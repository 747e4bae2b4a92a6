"""Bash command lines, parsed with tree-sitter's grammar.

strict.py   for permission rules: accounts for every byte of the line, or rejects the line
lenient.py  for the ledger: the programs of any line, best effort
tree.py     the parser

tree-sitter's error recovery is quadratic in time and memory and cannot be interrupted from Python, so each reader
bounds its input: first by size, then by the characters of the line.
"""
