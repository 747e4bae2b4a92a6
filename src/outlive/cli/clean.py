"""Text of models, tools and files made safe to print. Nothing in it can move the cursor, set a title or a clipboard,
or turn the order of characters around.

`clean` hides nothing: what is neutralised stays visible, so that a person who is asked sees all of a command.
`clean_output` is for what programs print: colours go, a progress bar shows its last state.
"""

import re

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # colours, cursor movement
    r"|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # titles, links, clipboard
    r"|\x1b[PX^_][^\x1b\n]{0,4096}\x1b\\"  # strings for the device
    r"|\x1b[()*+#][0-9A-Za-z]|\x1b[=>78cDEHMNOZ]"
)
_COLOUR = re.compile(r"(\x1b\[(?:[0-2]|3[1-7]|9[1-7])m)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_UNSEEN = re.compile(
    "[\x80-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)
"""C1 controls, marks and overrides of direction, line ends of their own, tags, halves of characters."""


def clean(text: str) -> str:
    """Line ends and tabs stay; every other control shows as its picture (`␛`), what changes direction as `�`."""
    text = text.replace("\r\n", "\n")
    text = _CONTROL.sub(lambda found: _picture(found[0]), text)
    return _UNSEEN.sub("\ufffd", text)


def clean_output(text: str) -> str:
    """What a program printed, as it would stand on the screen in the end, without its colours."""
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return clean("\n".join(line.rpartition("\r")[2] for line in text.split("\n")))


def clean_styled(text: str) -> str:
    """Cleaned, besides the few colours that our own lines have; text from elsewhere can be coloured, not hidden."""
    return "".join(part if at % 2 else clean(part) for at, part in enumerate(_COLOUR.split(text)))


def one_line(text: str) -> str:
    """Cleaned, on one line."""
    return " ".join(clean(text).split())


def _picture(control: str) -> str:
    return "␡" if control == "\x7f" else chr(0x2400 + ord(control))
