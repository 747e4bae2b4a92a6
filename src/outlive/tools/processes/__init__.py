"""Commands that tools start: run, watched, ended, and found again after a crash."""
