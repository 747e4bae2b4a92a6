"""Providers, one a file; their formats exist only here.

anthropic_form.py   messages and blocks in Anthropic's form, both ways
"""
