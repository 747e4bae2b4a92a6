"""The whole of it: the command line as a process, the official SDKs, a strict server. Nothing of ours is called."""
