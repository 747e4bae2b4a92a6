"""The OpenAI side: request rules, prompt size and caching, wire format of answers."""
