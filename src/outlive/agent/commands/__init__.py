"""Commands that an agent started: those that the log knows, and those that outlived their session."""
