"""Tools: one a file, each checked, gated and run by `runner`. `protocol` says what a tool is."""
