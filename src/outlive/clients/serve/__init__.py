"""The context engine for clients that let a plugin own the view: there our passes are the compaction.

server.py    `outlive serve`: requests over a unix socket
locate.py    where the socket is, and how one server is started and found
client_view.py  a session of a client: its messages in, the messages to send out
shapes/      messages of pi and opencode
shims.py     the TypeScript that runs inside of the clients, and where it is installed
"""
