"""Checks of one part of a request each: fields, blocks, tools, thinking, edits of the context, beta headers."""
