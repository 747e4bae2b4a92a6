"""What cache misses cost, from the usage that a client recorded."""

import json
from pathlib import Path

import pytest

from outlive.replay.cache_misses import SLACK, cache_account
from outlive.replay.importers import read_recording
from outlive.replay.recording import RecordedUsage, usage_of
from tests.cli.command import Outlive
from tests.clients.transcripts import ClaudeTranscript

OPUS = "claude-opus-5-5"


def used(time: float, read: int, written: int, model: str = OPUS) -> RecordedUsage:
    return RecordedUsage(time, model, 3, written, read)


def test_a_warm_cache_has_no_misses() -> None:
    account = cache_account([used(0, 0, 50_000), used(10, 50_000, 1_000), used(290, 51_000 - SLACK, 1_000)])
    assert account is not None
    assert account.misses == ()
    assert account.share == pytest.approx(0.655, abs=0.01)


@pytest.mark.parametrize(
    ("now", "reason", "tokens"),
    [
        (used(301, 0, 101_000), "expired", 100_003),
        (used(20, 0, 101_000), "changed", 100_003),
        (used(20, 40_000, 61_000), "changed", 60_003),
        (used(20, 0, 101_000, "claude-sonnet-5-5"), "model", 100_003),
        (used(400, 5_000, 20_000), "compacted", 20_003),
    ],
)
def test_a_miss_has_a_reason_and_a_price(now: RecordedUsage, reason: str, tokens: int) -> None:
    account = cache_account([used(0, 0, 100_000), now])
    assert account is not None
    (miss,) = account.misses
    assert (miss.call, miss.reason, miss.tokens) == (2, reason, tokens)
    rates = {OPUS: 5.0 - 0.2, "claude-sonnet-5-5": 2.5 - 0.2}
    assert miss.cost == pytest.approx(tokens * rates[now.model] / 1e6)
    assert account.missed()[:2] == (1, tokens)


def test_the_price_of_an_unknown_model_is_not_guessed() -> None:
    account = cache_account([used(0, 0, 9_000, "mine"), used(1, 0, 9_000, "mine")])
    assert account is not None
    assert account.missed() == (1, 9_003, None)
    assert cache_account([]) is None


@pytest.mark.parametrize("form", [None, [], {}, {"input_tokens": "many"}, {"input_tokens": -3}])
def test_a_usage_that_tells_nothing_is_none(form: object) -> None:
    assert usage_of(form, 1.0, OPUS) is None


def test_both_providers_count_in_their_own_way() -> None:
    claude = {"input_tokens": 5, "cache_creation_input_tokens": 70, "cache_read_input_tokens": 900}
    gpt = {"input_tokens": 975, "cached_input_tokens": 900, "cache_write_input_tokens": 70}
    assert usage_of(claude, 1.0, "m") == usage_of(gpt, 1.0, "m") == RecordedUsage(1.0, "m", 5, 70, 900)


def test_codex_tells_the_usage_of_each_call(tmp_path: Path) -> None:
    def line(kind: str, **payload: object) -> str:
        return json.dumps({"timestamp": "2026-11-18T10:00:00Z", "type": kind, "payload": payload})

    count = {"last_token_usage": {"input_tokens": 40, "cached_input_tokens": 30}, "total_token_usage": {}}
    rows = [
        line("turn_context", model="gpt-5.5"),
        line("response_item", type="message", role="user", content="hello"),
        line("event_msg", type="token_count", info=None),
        line("event_msg", type="token_count", info=count),
    ]
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join(rows))
    (usage,) = read_recording(path).usage
    assert (usage.model, usage.input, usage.read) == ("gpt-5.5", 10, 30)


def test_the_user_is_told_in_rescue_and_in_the_report(tmp_path: Path) -> None:
    transcript = ClaudeTranscript(tmp_path / "session.jsonl")
    transcript.user("Count the trees.")
    for minute, read in ((0, 0), (1, 50_000), (31, 0)):
        usage = {"input_tokens": 3, "cache_read_input_tokens": read, "cache_creation_input_tokens": 51_000 - read}
        line = {
            **json.loads(transcript.path.read_text().splitlines()[-1]),
            "type": "assistant",
            "uuid": f"a{minute}",
            "parentUuid": transcript.newest,
            "timestamp": f"2026-11-18T10:{minute:02d}:00Z",
        }
        words = [{"type": "text", "text": f"Forty {minute}."}]
        line["message"] = {"role": "assistant", "id": f"m{minute}", "model": OPUS, "usage": usage, "content": words}
        transcript.newest = f"a{minute}"
        with transcript.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
            file.write(json.dumps({**line, "uuid": f"b{minute}"}) + "\n")
    outlive = Outlive(tmp_path)
    missed = "1 miss after a pause of more than five minutes: 51k tokens paid again, $0.24 more than reading them"
    assert missed in outlive("rescue", str(transcript.path)).out
    assert missed in outlive("replay", str(transcript.path), "--window", "50000").out
    report = outlive("replay", str(transcript.path), "--window", "50000", "--json").json["recorded_cache"]
    assert (report["calls"], report["misses"][0]["gap"]) == (3, 1800.0)
    outlive("replay", str(transcript.path), "--window", "50000", "--html", "report.html")
    assert "after a pause of more than five minutes (30 minutes)" in (tmp_path / "report.html").read_text()
