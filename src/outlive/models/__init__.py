"""Models and the formats of their providers, which exist only here.

protocol.py             the interface of a model
errors.py, failures.py  errors, and how providers report them
too_long.py             how they say that a prompt is too long
resolve.py              which model to use
local_servers.py        what a server says about its models: names and windows
retry.py                wrappers that retry, or fall back to another model
prices.py               windows, longest answers and prices of well-known models
provider_model.py       what both providers share
http_api.py             a JSON API over HTTP: bounded answers, server-sent events
anthropic/, openai/     the providers: their requests and answers
repair.py, sanitize.py  fix what models write, so that it can be used and sent back
written_calls/          tool calls that a model wrote into its text: forms, markers, reading
answers/                answers while they arrive: text and length
"""
