"""What a site asks robots to leave alone (robots.txt)."""

from urllib.robotparser import RobotFileParser

from outlive.tools.errors import ToolError
from outlive.tools.web.addresses import PageAddress, target
from outlive.tools.web.fetch import AGENT, Fetcher

MAX_LINES = 5_000  # the file is a stranger's, and the parser compares each rule
MAX_LINE_CHARS = 1_000  # of a rule


class Robots:
    """The rules of the sites that were fetched from in a session."""

    def __init__(self) -> None:
        self._known: dict[str, RobotFileParser] = {}

    def check(self, page: PageAddress, fetcher: Fetcher) -> None:
        """Raises ToolError if the site asks robots not to fetch this page, or its rules cannot be had."""
        rules = self._known.get(page.origin)
        if rules is None:
            rules = self._known[page.origin] = _rules(page, fetcher)
        if not rules.can_fetch(AGENT, page.url):
            raise ToolError(f"{page.url} is not fetched: robots.txt of {page.host} asks robots to leave it alone")


def _rules(page: PageAddress, fetcher: Fetcher) -> RobotFileParser:
    found = fetcher.page(target(f"{page.origin}/robots.txt"))
    if found.status >= 500:
        raise ToolError(f"robots.txt of {page.host} cannot be read (status {found.status}), so nothing is fetched")
    text = found.body.decode("utf-8", "replace") if found.status == 200 else ""
    rules = RobotFileParser()
    rules.parse([line[:MAX_LINE_CHARS] for line in text.splitlines()[:MAX_LINES]])
    return rules
