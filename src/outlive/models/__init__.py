"""Providers, one a file; their formats exist only here.

protocol.py             what a model is to the rest of the package
errors.py, failures.py  what can go wrong, and how providers say it
resolve.py              which model answers
retry.py                models that wrap a model: asked again, or another one instead
prices.py               windows, longest answers and prices of well-known models
anthropic/, openai/     the providers: their requests, their answers
repair.py, sanitize.py  what models write in a form that can be used, and sent back
text_calls.py           tool calls that a model wrote into its text
answer_text.py          the text of an answer while it arrives: what can be shown, what is kept
"""
