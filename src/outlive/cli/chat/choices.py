"""The rows of the pickers: sessions, models, permission modes, earlier prompts."""

import time
from collections.abc import Iterable
from functools import partial

from outlive.agent.rewind import RewindPoint
from outlive.agent.session import Session
from outlive.cli.chat.picker.catalog import CatalogEntry
from outlive.cli.chat.picker.rows import PickerRow
from outlive.cli.chat.preferences import Theme
from outlive.cli.chat.words import ago, counted, short_session, tokens
from outlive.cli.session.rewind import changed_since
from outlive.errors import OutliveError
from outlive.events import AssistantSaid, UserSaid
from outlive.messages import plain_text
from outlive.origin import user_words
from outlive.printable import some
from outlive.stores.logs.protocol import LogStore, SessionInfo
from outlive.tools.permissions.asking import MODE_WORDS, MODES, PermissionMode

MAX_PREVIEWED_BYTES = 1_000_000
"""Bytes of a session's log that is read for its preview; reading a longer one would block the screen."""
MAX_FILES_NAMED = 5  # in the preview of a point to go back to; the rest is counted
MODE_PREVIEWS: dict[PermissionMode, str] = {
    "ask": "Reading and planning run. Edits and commands are asked about, unless a rule allows them.",
    "accept-edits": "Edits inside of the folder run. Commands are asked about, unless a rule allows them.",
    "plan": "Reading and planning run. Edits and commands are refused, whatever the rules allow.",
    "bypass": "Everything runs. Deny rules, the limits of the folder and the files of outlive itself still hold.",
}

THEMES: dict[Theme, str] = {
    "terminal": "the 16 colours of the terminal itself",
    "dark": "fixed colours for a dark background",
    "light": "fixed colours for a light background",
    "none": "bold and dim, no colours",
}


def session_rows(store: LogStore, infos: Iterable[SessionInfo], here: str = "") -> list[PickerRow]:
    """Sessions as rows, with their last exchange as preview."""
    now = time.time()
    return [
        PickerRow(
            info.title or "(nothing said yet)",
            f"{ago(now - info.updated)} · {short_session(info.id)}",
            info.id,
            partial(_session_preview, store, info),
            current=info.id == here,
            key=info.id,
        )
        for info in infos
    ]


def _session_preview(store: LogStore, info: SessionInfo) -> str:
    head = f"{info.id} · {counted(info.last_event, 'event')}"
    if info.size > MAX_PREVIEWED_BYTES:
        return f"{head}\n{info.title}"
    try:
        events = store.read(info.id).events
    except OutliveError as error:
        return f"{head}\n{error}"
    said = next((user_words(event.blocks) for event in reversed(events) if isinstance(event, UserSaid)), "")
    answers = (plain_text(event.blocks) for event in reversed(events) if isinstance(event, AssistantSaid))
    answer = next((text for text in answers if text.strip()), "")
    return f"{head}\n> {said.strip()}\n{answer.strip()}"


def model_rows(entries: Iterable[CatalogEntry], session: Session, here: str) -> list[PickerRow]:
    """Models as rows: the present one, those used in this session, then the others."""
    used = {event.model for event in session.events if isinstance(event, AssistantSaid) and event.model}
    rows = [_model_row(entry, here, used) for entry in entries]
    if not any(row.current for row in rows):
        rows.insert(0, PickerRow(here, "in use", here, current=True))
    return sorted(rows, key=lambda row: (not row.current, row.value not in used))


def _model_row(entry: CatalogEntry, here: str, used: set[str]) -> PickerRow:
    price = entry.price
    facts = [
        entry.where,
        f"{tokens(entry.window)} window" if entry.window else "",
        f"${price.input:g} in, ${price.output:g} out" if price else "",
        "used here" if entry.spec in used else "",
    ]
    about = [
        f"window: {entry.window:,} tokens" if entry.window else "window: not known before it is used",
        f"dollars a million tokens: {price.input:g} input, {price.cache_read:g} from the cache, "
        f"{price.cache_write:g} into the cache, {price.output:g} output"
        if price
        else "price: not known, or free on this machine",
        f"a prompt above {price.long_prompt:,} tokens costs {price.long_input:g} times as much"
        if price and price.long_prompt
        else "",
    ]
    return PickerRow(
        entry.spec,
        " · ".join(filter(None, facts)),
        entry.spec,
        "\n".join(filter(None, about)),
        current=entry.spec == here,
    )


def mode_rows(now: PermissionMode) -> list[PickerRow]:
    return [PickerRow(mode, MODE_WORDS[mode], mode, MODE_PREVIEWS[mode], current=mode == now) for mode in MODES]


def theme_rows(now: Theme) -> list[PickerRow]:
    return [PickerRow(name, about, name, current=name == now) for name, about in THEMES.items()]


def prompt_rows(points: Iterable[RewindPoint]) -> list[PickerRow]:
    """Messages of the user as rows; the preview names the files that changed since."""
    now = time.time()
    return [PickerRow(point.text, ago(now - point.time), point, _point_preview(point)) for point in points]


def _point_preview(point: RewindPoint) -> str:
    if not point.files:
        return point.text
    return f"{changed_since(point.files)}: {some(point.files, MAX_FILES_NAMED)}\n{point.text}"


def rewind_rows(point: RewindPoint) -> list[PickerRow]:
    """What can go back to before a message; the value is the word that /rewind takes."""
    files = changed_since(point.files) if point.files else "no file changed since"
    return [
        PickerRow("conversation and files", files, ""),
        PickerRow("conversation", "files stay as they are", "conversation"),
        PickerRow("files", f"{files}; the conversation stays", "files"),
    ]
