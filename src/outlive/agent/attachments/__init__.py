"""What goes into a prompt beside the user's words, each text with its origin.

shell.py      the output of commands that the user typed after `!`
"""
