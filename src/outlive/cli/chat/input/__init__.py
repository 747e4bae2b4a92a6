"""What helps with writing a message: completion, history, pastes, images, the clipboard, the user's own editor."""
