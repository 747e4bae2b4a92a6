"""A plan of seven tasks, for demonstrations and lessons."""

from outlive.tasks.draft import TaskDraft

PLAN = (
    TaskDraft(key="schema", subject="Design the schema", priority=1),
    TaskDraft(key="parser", subject="Write the parser", blocked_by=("schema",)),
    TaskDraft(key="index", subject="Build the index", blocked_by=("schema",)),
    TaskDraft(key="query", subject="Answer queries", blocked_by=("parser", "index")),
    TaskDraft(key="tests", subject="Test it all", blocked_by=("query",)),
    TaskDraft(key="docs", subject="Write the manual", blocked_by=("parser",), priority=3),
    TaskDraft(key="release", subject="Release", blocked_by=("tests", "docs")),
)
