"""Custom headers for a model's server in the format of both SDKs: `Name: value`, one a line."""


def custom_headers(text: str) -> dict[str, str]:
    """The headers of `ANTHROPIC_CUSTOM_HEADERS` or `OPENAI_CUSTOM_HEADERS`; lines without a colon are skipped."""
    pairs = (line.partition(":") for line in text.split("\n"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and name.strip()}
