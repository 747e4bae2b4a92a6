"""Files as tools see them: listed, opened, compared and changed."""
