"""Which files the model has seen, and as what: an edit of a file that changed since then is refused."""


class Seen:
    """Files by path, with the hash of what was read."""
