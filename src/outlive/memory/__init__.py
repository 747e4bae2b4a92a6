"""What was learned, across sessions and projects: kept, found again when it matters, corrected, forgotten on purpose."""
