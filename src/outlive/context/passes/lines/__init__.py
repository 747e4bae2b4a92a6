"""Which lines stay: their names, what each is worth by the last mention, and how they are chosen."""
