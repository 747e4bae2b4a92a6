"""What goes into a prompt beside the user's words, each text with its origin.

attaching.py  everything that a prompt names, put together
mentions.py   `@file`, `@file:10-40` and `@folder`
shell.py      the output of commands that the user typed after `!`
"""
