"""outlive inside of other agents.

hook.py      `outlive hook CLIENT`: one event of a client in, one answer out, whatever goes wrong
server_socket.py  the socket at which the client's MCP server answers its hooks
answers/     what is answered: at the start, after a compaction, to a prompt, to a large result
mirror.py    the client's own task list in the graph
words.py     the user's words, logged at once
fitting_memories.py  the memories that fit them
serve/       `outlive serve`: the view of pi and opencode, whose plugins let us make their requests
shims/       these plugins
setup/       `outlive init`: what is written into the files of each client, and taken out again
"""

KEEP_RESULT = "keep_result"
"""A tool of our MCP server that is not in its list: hooks of Claude Code and Codex call it, models do not."""
CLIENTS_WITH_HOOKS = ("claude-code", "codex", "gemini", "cursor", "kimi")
MAX_EVENT_BYTES = 64 * 1024 * 1024
"""Bytes of an event of a hook that are read."""
