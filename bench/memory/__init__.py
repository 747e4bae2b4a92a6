"""How well the right entries are found, how rarely the wrong ones are shown, and how fast."""
