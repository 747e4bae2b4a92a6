"""Outlive inside other agent libraries. One module and one extra for each; nothing in the package imports them.

claude_agent_sdk.py  OutliveSessionStore: transcripts of Claude Code in our store
openai_agents.py     OutliveSession: items come back as a view that fits the window
pydantic_ai.py       OutliveConversationStore, and OutliveHistory, a capability that fits each request
langgraph.py         OutliveMiddleware: fits each request of a LangChain agent
native_log.py        shared by all: a message list of another library as a session
"""
