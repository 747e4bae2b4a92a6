"""Commands that tools start: how they run, end, and are found again after a crash."""
