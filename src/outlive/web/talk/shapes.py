"""An open session and its questions as JSON. Text of models and commands is made harmless but stays visible."""

from typing import Any

from outlive.agent.runtime import Runtime
from outlive.printable import clean, one_line
from outlive.tools.files.diff import changed_lines
from outlive.tools.permissions.asking import MODE_WORDS, MODES, PermissionMode
from outlive.web.talk.questions import OpenQuestion

NARROW_TO_WIDE: tuple[PermissionMode, ...] = ("plan", "ask", "accept-edits", "bypass")
LONGEST_SUBJECT = 20_000
"""Characters of a command that are sent with the question; the rest on request."""
LONGEST_PREVIEW = 40_000  # of a change that is asked about; the rest is sent on request
PART = 200_000
"""Characters of one answer to a request for more."""


def is_wider(mode: PermissionMode, than: PermissionMode) -> bool:
    """Whether a mode allows more without asking."""
    return NARROW_TO_WIDE.index(mode) > NARROW_TO_WIDE.index(than)


def modes_shape(current: PermissionMode) -> list[dict[str, object]]:
    return [
        {"name": mode, "about": MODE_WORDS[mode], "wider": is_wider(mode, current)}
        for mode in sorted(MODES, key=NARROW_TO_WIDE.index)
    ]


def agent_shape(agent: Runtime) -> dict[str, object]:
    """What of an agent may change while it is open."""
    gauge = agent.gauge
    return {
        "mode": agent.mode,
        "modes": modes_shape(agent.mode),
        "model": one_line(agent.parts.model.name, 200),
        "queued": [clean(words) for words in agent.queued],
        "unfinished": agent.unfinished,
        "gauge": {"used": gauge.used, "next_pass": gauge.next_pass, "window": gauge.window},
    }


def question_shape(asked: OpenQuestion) -> dict[str, object]:
    """A question with all that is needed to answer it; long parts are cut and say so."""
    question = asked.question
    preview = clean(question.preview)
    return {
        "id": asked.id,
        "tool": one_line(question.tool, 200),
        "subject": visible(question.subject[:LONGEST_SUBJECT]),
        "subject_length": len(question.subject),
        "bytes": len(question.subject.encode("utf-8", "surrogatepass")),
        "hidden": _hidden(question.subject),
        "preview": preview[:LONGEST_PREVIEW],
        "preview_length": len(preview),
        "is_diff": question.change is not None,
        "path": one_line(question.change.path, 1000) if question.change else "",
        "creates": question.change is not None and question.change.before is None,
        "always": [visible(rule) for rule in question.always],
        "is_call": not question.no,
        "yes": question.yes,
        "no": question.no,
        "call": question.call_id,
    }


def visible(text: str) -> str:
    """The text with every character that a screen would hide or obey written as its number, such as `⟦U+202E⟧`."""
    if not _hidden(text):
        return text
    return "".join(f"⟦U+{ord(one):04X}⟧" if _is_hidden(one) else one for one in text)


def _hidden(text: str) -> int:
    """How many characters a screen would hide or obey."""
    plain = text.replace("\n", "").replace("\t", "")
    return 0 if plain.isprintable() and clean(plain) == plain else sum(map(_is_hidden, plain))


def _is_hidden(character: str) -> bool:
    return character not in "\n\t" and (not character.isprintable() or clean(character) != character)


def part_of(asked: OpenQuestion, what: str, skip: int) -> dict[str, Any]:
    """A further part of a subject or of the whole diff, which the preview may cut."""
    question = asked.question
    if what == "subject":
        return {"text": visible(question.subject[skip : skip + PART]), "length": len(question.subject)}
    if question.change is not None:
        text = clean("\n".join(changed_lines(question.change.before or "", question.change.after)))
    else:
        text = clean(question.preview)
    return {"text": text[skip : skip + PART], "length": len(text)}
