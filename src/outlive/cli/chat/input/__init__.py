"""What helps with writing a message: completion, history, pastes, the user's own editor."""
