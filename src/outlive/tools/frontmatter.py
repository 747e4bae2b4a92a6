"""The head of a Markdown file between two lines of `---`: plain `key: value`, values in one line or folded below.

Only the part of YAML that skills and commands use is read, so that listing them loads no parser; the rest is skipped.
"""

import re


def frontmatter(text: str) -> tuple[dict[str, str], str]:
    """The values of the head and the text below it. Raises ValueError if there is no head, or no end of it."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        raise ValueError("does not begin with a frontmatter (---)")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        raise ValueError("its frontmatter has no end (---)")
    values: dict[str, str] = {}
    key = ""
    for line in lines[1:end]:
        if line[:1] in (" ", "\t"):
            values[key] = f"{values.get(key, '')} {line.strip()}".strip()
        elif ":" in line and not line.startswith("#"):
            key, _, value = (part.strip() for part in line.partition(":"))
            values[key] = "" if value in ("|", ">", "|-", ">-", "|+", ">+") else value
    found = {key: value[1:-1] if re.fullmatch(r"([\"']).*\1", value) else value for key, value in values.items()}
    return found, "\n".join(lines[end + 1 :])
