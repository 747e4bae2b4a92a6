"""`outlive mcp`: the real server in a process of its own, asked by the SDK's own client."""
