"""Claude: requests, thinking and answers in the form of Anthropic's messages API."""
