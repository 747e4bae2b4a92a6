"""HTML as readable text: headings, lists, links and code in Markdown's form. Reads each character once."""

import html
import re
from urllib.parse import urljoin

HIDDEN = ("script", "style", "template", "noscript", "svg", "iframe", "head")
BLOCKS = frozenset(
    "address article aside blockquote br dd div dl dt fieldset figure footer form header hr li main nav ol p pre "
    "section table tbody td tfoot th thead tr ul".split()
)
HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
MAX_HREF_CHARS = 500  # longer addresses are tracking data
_NAME = re.compile(r"/?([A-Za-z][A-Za-z0-9-]{0,40})")
_HREF = re.compile(
    r"""\shref\s{0,8}=\s{0,8}(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s>"']{1,2000}))""", re.IGNORECASE
)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,500})", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"&#[xX]?[0-9a-fA-F]{8,}+;?")
_BLANK = re.compile(r"[ \t\r\f\v]+")


def page_text(source: str, base: str) -> str:
    """The readable text of a page; links are absolute."""
    return _Reader(source, base).text()


class _Reader:
    def __init__(self, source: str, base: str) -> None:
        self.source, self.base = source, base
        self.lower = source.lower()
        self.parts: list[str] = []
        self.link = ""
        self.verbatim = 0

    def text(self) -> str:
        title = _TITLE.search(self.source[:100_000])
        at, end = 0, len(self.source)
        while at < end:
            opening = self.source.find("<", at)
            self._say(self.source[at : opening if opening >= 0 else end])
            at = self._tag(opening) if opening >= 0 else end
        lines = (line.rstrip() for line in "".join(self.parts).splitlines())
        body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
        name = _unescaped(title[1]).strip() if title else ""
        return f"{name}\n\n{body}" if name else body

    def _tag(self, at: int) -> int:
        """Read what begins with `<`; returns where the text goes on."""
        if self.source.startswith("<!--", at):
            return self._behind("-->", at)
        name = _NAME.match(self.source, at + 1)
        if name is None:
            if self.source.startswith(("<!", "<?"), at):
                return self._behind(">", at)
            self._say("<")
            return at + 1
        end = self._behind(">", at)
        tag, closing = name[1].lower(), self.source.startswith("/", at + 1)
        if tag in HIDDEN and not closing:
            return self._behind(">", self._before(f"</{tag}", end))
        self._write(tag, closing, self.source[at : min(end, at + 4_000)])
        return end

    def _write(self, tag: str, closing: bool, attributes: str) -> None:
        if tag == "pre":
            self.verbatim = max(0, self.verbatim + (-1 if closing else 1))
            self.parts.append("\n```\n")
        elif tag in HEADINGS:
            self.parts.append("\n\n" if closing else f"\n\n{HEADINGS[tag]} ")
        elif tag == "a":
            self._anchor(closing, attributes)
        elif tag == "li" and not closing:
            self.parts.append("\n- ")
        elif tag in ("td", "th"):
            self.parts.append(" | " if closing else "")
        elif tag in BLOCKS:
            self.parts.append("\n\n" if tag == "p" else "\n")
        elif tag == "code" and not self.verbatim:
            self.parts.append("`")

    def _anchor(self, closing: bool, attributes: str) -> None:
        if closing and self.link:
            self.parts.append(f"]({self.link})")
        self.link = ""
        found = None if closing else _HREF.search(attributes)
        address = _unescaped(found[1] or found[2] or found[3] or "").strip() if found else ""
        if address and not address.startswith(("#", "javascript:", "data:")):
            try:
                self.link = urljoin(self.base, address)[:MAX_HREF_CHARS]
            except ValueError:
                return
            self.parts.append("[")

    def _say(self, text: str) -> None:
        text = _unescaped(text)
        self.parts.append(text if self.verbatim else _BLANK.sub(" ", text.replace("\n", " ")))

    def _behind(self, closing: str, at: int) -> int:
        found = self.source.find(closing, at)
        return found + len(closing) if found >= 0 else len(self.source)

    def _before(self, closing: str, at: int) -> int:
        found = self.lower.find(closing, at)
        return found if found >= 0 else len(self.source)


def _unescaped(text: str) -> str:
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text)) if "&" in text else text
