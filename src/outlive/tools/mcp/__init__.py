"""Tools of MCP servers, reached through two tools whose definitions never change: `mcp_search` and `mcp_call`.

tools.py       the two tools
servers.py     all servers of a session
connection.py  one server: connect, list, call, start again within bounds
transport.py   its process or its address, with bounds on what it sends
listing.py     how tools of servers are shown to the model
arguments.py   the check of arguments against a schema that the server wrote
results.py     the result of a call, bounded and marked as untrusted

The SDK (`mcp`) is imported by connection.py and transport.py when a server is started, and nowhere else.
"""
