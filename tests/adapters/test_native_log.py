"""What all adapters build on: natives come back by identity, and the log follows a list of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from outlive.adapters.native_log import NativeLog
from outlive.messages import Message, Text, ToolCall, ToolResult
from outlive.stores.logs.protocol import SessionBusy

Native = list[str]
"""Some object of a library; here its first word is the role."""


def read(native: Native) -> Message:
    role, *words = native
    return Message("assistant" if role == "model" else "user", tuple(map(Text, words)))


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NativeLog:
    monkeypatch.chdir(tmp_path)
    return NativeLog("test", "one", window=20_000)


def test_equal_words_come_back_as_the_natives_that_they_were(log: NativeLog) -> None:
    words = "Go on."
    natives = [[role, words, words] for role in ("user", "model", "user", "model", "user")]
    log.follow(natives, read)
    shown = [part.native for part in log.view() if part.native is not None]
    assert len(shown) == len(natives)
    assert all(one is other for one, other in zip(shown, natives, strict=True))


def test_a_list_that_grows_is_logged_once(log: NativeLog, tmp_path: Path) -> None:
    natives = [["user", "One."], ["model", "Two."]]
    log.follow(natives, read)
    NativeLog("test", "one").follow([list(native) for native in natives] + [["user", "Three."]], read)
    lines = (tmp_path / ".transcripts" / "one.jsonl").read_text()
    assert [lines.count(word) for word in ("One.", "Two.", "Three.", '"undone"')] == [1, 1, 1, 0]


def test_half_a_character_does_not_stop_the_log(log: NativeLog) -> None:
    native = ["user", "a\ud83d lone half"]
    for _ in range(2):
        log.follow([native], read)
        (part,) = [part for part in log.view() if part.native is native]
        assert not part.whole, "what cannot be written is shown as it was written"
    assert [event for event in log.everything() if event.id > 4] == []


def test_an_edited_result_still_names_its_native(log: NativeLog) -> None:
    long = "\n".join(f"line {number} with some words" for number in range(3_000))
    log.add("asked", Message("user", (Text("Look."),)))
    log.add("call", Message("assistant", (ToolCall("c1", "look", {}),)))
    log.add("result", Message("user", (ToolResult("c1", long),)))
    shown = {part.native: part for part in log.view()}
    assert shown["call"].whole
    assert not shown["result"].whole
    assert isinstance(shown["result"].blocks[0], ToolResult)
    assert log.recall("@h3", 2, 3) in long


def test_another_process_at_the_same_moment_is_refused(log: NativeLog) -> None:
    code = "from outlive.adapters.native_log import NativeLog\nwith NativeLog('test', 'one').open(): pass"
    with log.open():
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert SessionBusy.__name__ in run.stderr
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_failed_write_is_forgotten(log: NativeLog, monkeypatch: pytest.MonkeyPatch) -> None:
    from outlive.stores.logs.files import FileLogWriter

    log.follow([["user", "One."]], read)
    with monkeypatch.context() as broken:
        broken.setattr(FileLogWriter, "append", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            log.follow([["user", "One."], ["model", "Two."]], read)
    assert "Two." not in str(log.view())
