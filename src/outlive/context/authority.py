"""Whether a line says that a rule, an instruction or a permission changed, in the active or in the passive.

Only the user can change them, so a summary may say it in the user's own words and in no others.
"""

import re

_AUTHORITY = re.compile(
    r"\b(?:rules?|instructions?|directives?|permissions?|restrictions?|constraints?|prohibitions?|bans?|limits?|"
    r"requirements?|guidelines?|conventions?|approvals?|consent|authori[sz]ation|polic(?:y|ies)|standing|criteria|"
    r"preferences?|(?:plan|ask|bypass|edit|permission) mode|clearance|go[- ]ahead|sign[- ]?off)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:withdr\w+|revok\w+|revocation|cancel\w*|lift(?:ed|s|ing)?|relax\w*|loosen\w*|dropp?(?:ed|s|ing)?|waiv\w+|"
    r"supersed\w+|rescind\w*|repeal\w*|overrid\w+|overrul\w+|overwrit\w+|void(?:ed)?|invalid\w*|obsolete|outdated|"
    r"expir\w+|laps\w+|suspend\w*|paus\w+|grant\w*|giv(?:en|e|es|ing)|gave|obtain\w*|receiv\w+|allow\w*|permit\w*|"
    r"authori[sz]ed|approved|extend\w*|widen\w*|remov\w+|delet\w+|eras\w+|chang\w+|replac\w+|updat\w+|amend\w*|"
    r"ended|ends|gone|over|cleared|reset|disabled?|off|ignor\w+|disregard\w*|forg[eo]t\w*|exempt\w*|except\w*|"
    r"no longer|not any ?more|any ?more|(?:do|does|did|need|needs)(?:\s+not|n['’]t)|cease\w*|stop(?:ped|s)?|"
    r"not (?:apply|appl|needed|required|binding|valid|in force)|optional|moot|set aside|in full|unrestricted)\b",
    re.IGNORECASE,
)
_DUTY = (
    r"(?:required|needed|necessary|mandatory|obligatory|forbidden|prohibited|banned|off[- ]limits|disallowed|"
    r"allowed|permitted|authori[sz]ed|approved|optional|fine|ok(?:ay)?|acceptable|exempt(?:ed)?)"
)
_RELEASE = re.compile(
    rf"\b(?:no longer|not)\s+(?:\w+\s+){{0,2}}{_DUTY}\b"
    rf"|\b(?:is|are|was|were|be|been|being)\s+(?:now|again|hereby|from now on|henceforth)\s+{_DUTY}\b"
    rf"|\b{_DUTY}\s+(?:now|again|from now on|any ?more)\b"
    r"|\b(?:needs?|requires?|must|ha(?:s|ve) to|should|may|can)\b[^.;]{0,80}\b(?:any ?more|no longer)\b"
    r"|\b(?:no longer|not)\s+(?:needs?|requires?|must|ha(?:s|ve) to|applies|apply|binding|in force)\b"
    r"|\b(?:from now on|henceforth)\b"
    r"|\b(?:free to|at liberty to|entitled to|may now|can now|cleared to)\b",
    re.IGNORECASE,
)
_AGREED = re.compile(
    r"\b(?:it (?:was|is|has been)|as|we|they|both|everyone|all)\s+(?:\w+\s+)?(?:agreed|decided|settled|understood|"
    r"confirmed|arranged|established|allowed|permitted|approved|accepted)\b|\b(?:agreed|agreement) (?:that|to|on)\b"
    r"|\bby agreement\b",
    re.IGNORECASE,
)


_SUFFIX = re.compile(r"\.[a-z]{1,4}\b")


def changes_authority(text: str) -> bool:
    """Whether a text speaks of a change of what is allowed or demanded."""
    words = " ".join(word for word in text.split() if not _is_path(word))
    if _AUTHORITY.search(words) and _CHANGE.search(text):
        return True
    return _RELEASE.search(text) is not None or _AGREED.search(text) is not None


def _is_path(word: str) -> bool:
    """Whether a word is the name of a file: one may be called `rules.py`."""
    return "/" in word or _SUFFIX.search(word) is not None
