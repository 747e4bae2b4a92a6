"""The agent inside of editors: `outlive acp` speaks the Agent Client Protocol (agentclientprotocol.com).

command.py          the command
server.py           requests of the editor, and the sessions that it has open
editor_session.py   one session: prompts, cancellation, modes, questions
updates.py          what happens in a session, as updates of the protocol
outbox.py           sends updates in order
prompts.py          what the user sent, as blocks of ours
stdio.py            JSON-RPC messages over standard input and output
"""
