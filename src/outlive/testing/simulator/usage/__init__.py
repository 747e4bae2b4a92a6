"""How many tokens a prompt has, and how many of them are cached."""
