"""The log as the engine sees it: units, pieces, and pages with handles."""
