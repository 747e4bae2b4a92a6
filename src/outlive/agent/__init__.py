"""The agent: session, model, tools and permissions wired together.

agent.py            the agent as programs use it; output.py structured output
runtime.py          what is behind it: a face drives it and watches what happens; parts.py what it is made of
compaction/         passes that need the model, with its summary or the provider's
factory.py          from settings and options to an agent
session.py          log and context engine: open, resume, say, ask, compact, undo, renew
tool_session.py     what tools may do with the session
prompt.py           the system prompt
memory/             memories in a session, and when they are put in order
subagents.py        a fresh context for one job
log/                events to disk and engine, secrets masked; forks; files and processes, and what changed since
commands/           commands of a session, and those that outlived it
recall.py, spending.py, policies.py
"""

from outlive.agent.session import Session

__all__ = ["Session"]
