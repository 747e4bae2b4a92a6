"""The Anthropic side: what is refused, what the prompt counts and caches, how answers are written."""
