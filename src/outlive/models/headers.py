"""Headers of the user's own for a model's server, as both SDKs write them: `Name: value`, one a line."""


def custom_headers(text: str) -> dict[str, str]:
    """The headers of `ANTHROPIC_CUSTOM_HEADERS` or `OPENAI_CUSTOM_HEADERS`; lines without a colon are passed over."""
    pairs = (line.partition(":") for line in text.split("\n"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and name.strip()}
