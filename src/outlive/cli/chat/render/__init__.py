"""How the conversation looks: from events to lines on the terminal."""
