"""Passes that need a model: its own summary, or the provider's in the background."""
