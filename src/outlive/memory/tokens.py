"""The words of a text whatever their case and signs, to see what it is about; not whether two texts say the same."""

import unicodedata

AROUND = "\"'“”‘’()[]{}`*_,;:!?…"
BULLETS = frozenset(("", "-", "*", "#", "##", "###", "—", "–", "•", "."))


def tokens(text: str) -> tuple[str, ...]:
    """All words, without the signs around them."""
    bare = (word.strip(AROUND).rstrip(".").strip(AROUND) for word in folded(text).split())
    return tuple(word for word in bare if word not in BULLETS)


def stem(token: str) -> str:
    """Without its ending, so that "deploys" is what "deploy" is. A name or number is left as it is."""
    if not token.isalpha() or len(token) < 5:
        return token[:-1] if token.isalpha() and len(token) == 4 and token[-1] == "s" and token[-2] != "s" else token
    for ending in ("ings", "ing", "ied", "ies", "ed", "es", "s"):
        if token.endswith(ending) and len(token) - len(ending) >= 3 and not token.endswith("ss"):
            token = token[: -len(ending)]
            break
    return token.rstrip("ey") if len(token) > 4 else token


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
