"""A compaction pass: when it is due, what stays, what goes and how it is shown."""
