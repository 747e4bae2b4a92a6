"""What was learned, across sessions and projects: kept, found when it matters, corrected, forgotten on purpose."""
