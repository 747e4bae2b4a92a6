"""What a call may do: the gate, rules, the fence around paths, and the sandbox for commands."""
