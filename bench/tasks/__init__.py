"""Speed of the task graph: `python -m bench.tasks`. bench/README.md has the figures and what they mean."""
