"""Real clients against the simulator, plain and with outlive; see README.md."""
