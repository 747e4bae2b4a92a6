"""Accessibility of a page, as axe-core sees it."""

from typing import Any

from axe_playwright_python.base import AxeResults  # type: ignore[import-untyped]
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

AT_REST = """
() => document.getAnimations().every(({ effect }) => effect.getComputedTiming().progress === null
    || effect.getComputedTiming().iterations === Infinity)
  && !document.querySelector(".question button:disabled")
"""
"""Nothing fades or moves, and the buttons of a permission work: they do so after a pause."""
COUNT_CHANGES = """
() => {
  window.changes = 0;
  window.watch ??= new MutationObserver((found) => (window.changes += found.length));
  watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
}
"""
CHANGES = "() => window.changes + watch.takeRecords().length"
MOST_JUDGEMENTS = 20
RULES: dict[str, dict[str, object]] = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]},
}
"""What is judged in each scheme of colours: in the second, what depends on colours."""


def assert_accessible(page: Any) -> None:
    """Fail with what axe-core finds in the page, light or dark, of contrast or of anything else.

    axe-core looks for a while. What it finds counts only if the page stayed as it was meanwhile: else it mixes, for
    example, the colour of a button that waits with the background of one that works.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    for scheme, rules in RULES.items():
        page.emulate_media(color_scheme=scheme)
        for _ in range(MOST_JUDGEMENTS):
            page.wait_for_function(AT_REST)
            page.evaluate(COUNT_CHANGES)
            found = AxeResults(page.evaluate("rules => axe.run(rules)", rules))
            if not found.violations_count or not page.evaluate(CHANGES):
                break
        assert not found.violations_count, f"{scheme}: {found.generate_report()}"
    page.emulate_media(color_scheme="light")
