"""The whole agent with a real model of 1.5 billion parameters on this machine."""
