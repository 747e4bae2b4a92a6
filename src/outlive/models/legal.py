"""Names, ids and texts in a form that every provider takes, whoever wrote them first."""

import hashlib
import re
from typing import Any

_OTHER = re.compile(r"[^a-zA-Z0-9_-]")


def legal_id(given: str, longest: int) -> str:
    """An id of letters, digits, dashes; another than given only where that would be refused. Same in, same out."""
    if given and len(given) <= longest and not _OTHER.search(given):
        return given
    mark = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_OTHER.sub('_', given)[: longest - 17]}_{mark}"


def legal_name(given: str, longest: int) -> str:
    """The name of a tool as it may be sent back, also when a model made it up."""
    return _OTHER.sub("_", given)[:longest] or "_"


def writable(form: Any) -> Any:
    """The same form without halves of characters, which cannot be sent as UTF-8."""
    match form:
        case str():
            return form.encode("utf-8", "replace").decode()
        case dict():
            return {writable(key): writable(value) for key, value in form.items()}
        case list() | tuple():
            return [writable(value) for value in form]
        case _:
            return form
