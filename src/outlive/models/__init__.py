"""Providers, one a file; their formats exist only here.

anthropic_form.py   messages and blocks in Anthropic's form, both ways
importers/          recorded sessions of other programs, in the forms that those write
"""
