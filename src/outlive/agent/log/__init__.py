"""The log of a session: what is written to it, masked, compared with the files, and forked."""
