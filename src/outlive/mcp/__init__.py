"""outlive as an MCP server: tools, resources and prompts over the stores of a workspace.

Only `server.py`, `http.py` and `changes.py` import the SDK, which is an extra and takes half a second to load.
"""
