"""Accessibility of a page, as axe-core sees it."""

from typing import Any


def assert_accessible(page: Any) -> None:
    """Fail with the report of axe-core if it finds a violation, of contrast or of anything else."""
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
