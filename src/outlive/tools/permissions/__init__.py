"""What a call may do: the gate, its rules, the paths it may touch, and the sandbox that commands run in."""
