"""`outlive replay` as a user has it, and the contract that other programs rely on."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Outlive

GARDEN = Path(__file__).parent.parent / "replay" / "importers" / "data"
STEPS = 60


def trajectory(steps: int = STEPS, name: str = "a/session: 1") -> dict[str, Any]:
    """A session of some length: read a file, think, edit it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Tidy the modules. Never rename a function."}]
    for number in range(steps):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"src/m{number}.py"}}
        text = "\n".join(f"{n}\tdef function_{number}_{n}(): return constant_{number}_{n}" for n in range(80))
        messages.append({"role": "assistant", "content": [{"type": "text", "text": f"Module {number}."}, call]})
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        messages.append({"role": "user", "content": [result]})
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "All tidy."}]})
    stamps = [f"2026-01-01T10:{n // 60:02d}:{n % 60:02d}Z" for n in range(len(messages))]
    return {"id": name, "source": "made up", "system": "Be brief.", "timestamps": stamps, "messages": messages}


@pytest.fixture
def outlive(tmp_path: Path) -> Outlive:
    return Outlive(tmp_path)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "recording.jsonl"
    path.write_text(json.dumps(trajectory()))
    return path


def replayed(outlive: Outlive, recording: Path, *options: str) -> list[dict[str, Any]]:
    out = outlive.folder / "requests.jsonl"
    result = outlive("replay", str(recording), "--window", "20000", "--requests-out", str(out), *options)
    assert result.code == 0, result.err
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_what_the_caller_adds_counts_against_the_window(outlive: Outlive, recording: Path) -> None:
    plain, reserved = replayed(outlive, recording), replayed(outlive, recording, "--reserve", "8000")
    largest = [max(len(json.dumps(line["messages"])) for line in lines) for lines in (plain, reserved)]
    assert largest[0] - largest[1] > 8000 * 2
    refused = outlive("replay", str(recording), "--window", "20000", "--reserve", "20000")
    assert (refused.code, "leaves nothing of a window of 20,000 tokens" in refused.err) == (2, True)


def test_the_users_own_settings_choose_window_and_policy(outlive: Outlive, recording: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "outlive.toml").write_text(
        '[context]\nwindow = 20_000\npolicy = "mine"\n[context.policies.mine]\ntail = 0.2\n'
    )
    outlive.environment["OUTLIVE_HOME"] = str(home)
    told = outlive("replay", str(recording), "--json").json
    assert (told["window"], told["policy"]) == (20_000, "mine")
    (tmp_path / "outlive.toml").write_text("[context]\nwindow = 30_000\n")
    told = outlive("replay", str(recording), "--json").json
    assert (told["window"], told["policy"]) == (30_000, "mine")


# -- the contract


def test_each_model_call_is_one_line(outlive: Outlive, recording: Path) -> None:
    lines = replayed(outlive, recording)
    messages = trajectory()["messages"]
    assert [line["turn"] for line in lines] == [n for n, m in enumerate(messages) if m["role"] == "assistant"]
    for line in lines:
        assert list(line) == ["turn", "system", "messages", "extra_calls"]
        assert line["system"] == "Be brief."
        assert line["extra_calls"] == []
    assert any("@h" in json.dumps(line) for line in lines)


def test_each_request_is_one_that_the_api_accepts(outlive: Outlive, recording: Path) -> None:
    for line in replayed(outlive, recording):
        roles = [message["role"] for message in line["messages"]]
        assert roles == [("user", "assistant")[n % 2] for n in range(len(roles))]
        assert roles[-1] == "user"
        assert len(json.dumps(line["messages"])) / 3.2 < 20_000 * 1.15  # JSON itself takes some room
        for before, after in zip(line["messages"], line["messages"][1:], strict=False):
            calls = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
            answers = [block["tool_use_id"] for block in after["content"] if block["type"] == "tool_result"]
            assert calls == answers
        assert all(m["content"] and all(b.get("text", "x").strip() for b in m["content"]) for m in line["messages"])


def test_a_request_depends_only_on_what_came_before(outlive: Outlive, recording: Path, tmp_path: Path) -> None:
    whole = replayed(outlive, recording)
    short = trajectory(25)
    short["messages"][-1] = {"role": "assistant", "content": "Something else entirely."}
    other = tmp_path / "short.jsonl"
    other.write_text(json.dumps(short))
    cut = replayed(outlive, other)
    assert cut == whole[: len(cut)]


def test_every_handle_in_a_request_gives_the_exact_bytes(outlive: Outlive, recording: Path) -> None:
    lines = replayed(outlive, recording)
    name = trajectory()["id"]
    handles = sorted({int(n) for n in re.findall(r"@h(\d+)", json.dumps(lines))})
    text = {m["content"][0]["content"] for m in trajectory()["messages"][2::2]}
    assert len(handles) > 10
    whole = 0
    for number in handles[:6]:
        result = outlive("recall", f"@h{number}", "--session", name)
        assert result.code == 0, result.err
        if not result.out.startswith("[event"):  # small neighbours share a page, each under a line of its own
            assert result.out in text
            whole += 1
    assert whole


def test_replaying_again_gives_the_same_and_replaces_the_session(outlive: Outlive, recording: Path) -> None:
    first = replayed(outlive, recording)
    (log,) = (outlive.folder / ".transcripts").glob("*.jsonl")
    before = timeless(log)
    assert replayed(outlive, recording) == first
    assert timeless(log) == before
    replayed(outlive, recording, "--policy", "lean")
    assert timeless(log) != before
    assert [path.name for path in (outlive.folder / ".transcripts").glob("*.jsonl")] == [log.name]


def timeless(log: Path) -> str:
    """A log without what the passes took, which is measured."""
    return re.sub(r',"seconds":[0-9.e-]+', "", log.read_text())


def test_the_passes_of_a_replay_are_timed(outlive: Outlive, recording: Path) -> None:
    replayed(outlive, recording)
    receipts = outlive("session", "receipts", trajectory()["id"], "--json").json
    assert receipts
    assert all(receipt["seconds"] > 0 for receipt in receipts)


def test_a_long_system_prompt_does_not_hide_that_it_is_a_replay(outlive: Outlive, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps(trajectory(2) | {"system": "rules " * 60_000}))
    for _ in range(2):
        assert outlive("replay", str(path), "--window", "400000").code == 0


def test_a_real_session_is_never_replaced(outlive: Outlive, recording: Path) -> None:
    from outlive.agent import Session
    from outlive.stores.logs.files import FileLogStore

    with Session.start(FileLogStore(outlive.folder), id=trajectory()["id"]) as session:
        session.user_said("precious")
    result = outlive("replay", str(recording))
    assert result.code == 1
    assert "real session" in result.err
    (log,) = (outlive.folder / ".transcripts").glob("*.jsonl")
    assert b"precious" in log.read_bytes()


@pytest.mark.parametrize("store", ["sqlite:///logs.db"])
def test_another_store_gives_the_same(outlive: Outlive, recording: Path, store: str) -> None:
    expected = replayed(outlive, recording)
    page = outlive("recall", "@h3", "--session", trajectory()["id"]).out
    assert replayed(outlive, recording, "--store", store) == expected
    assert outlive("recall", "@h3", "--session", trajectory()["id"], "--store", store).out == page


# -- pipes


def test_a_recording_is_read_from_stdin(outlive: Outlive, recording: Path) -> None:
    expected = replayed(outlive, recording)
    out = outlive.folder / "piped.jsonl"
    result = outlive("replay", "-", "--window", "20000", "--requests-out", str(out), stdin=recording.read_text())
    assert result.code == 0, result.err
    assert [json.loads(line) for line in out.read_text().splitlines()] == expected
    assert outlive("recall", "@h1", "--session", trajectory()["id"]).code == 0


def test_what_is_wrong_with_stdin_is_said_of_stdin(outlive: Outlive) -> None:
    for text in ("", "not JSON at all", '{"id": "x", "messages": []}'):
        result = outlive("replay", "-", stdin=text)
        assert result.code == 1
        assert result.err.startswith("refused: stdin")
    text = json.dumps(trajectory(2)) + "\noops"
    assert "left out: stdin, line 2: not JSON" in outlive("replay", "-", stdin=text).err
    assert not (outlive.folder / "-").exists()


def test_requests_go_to_stdout_and_the_report_aside(outlive: Outlive, recording: Path) -> None:
    expected = replayed(outlive, recording)
    piped = ("replay", str(recording), "--window", "20000", "--requests-out", "-")
    result = outlive(*piped)
    assert [json.loads(line) for line in result.out.splitlines()] == expected
    assert "of never compacting" in result.err
    assert json.loads(outlive(*piped, "--json").err)["session"] == trajectory()["id"]
    assert not (outlive.folder / "-").exists()


def test_the_page_goes_to_stdout_but_not_beside_the_requests(outlive: Outlive, recording: Path) -> None:
    result = outlive("replay", str(recording), "--html", "-")
    assert result.out.startswith("<!doctype html>")
    assert "of never compacting" in result.err
    assert outlive("replay", str(recording), "--html", "-", "--requests-out", "-").code == 2
    assert not (outlive.folder / "-").exists()


# -- formats


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("claude_code.jsonl", "5f1c0c1e-0000-4000-8000-00000000c0de"),
        ("codex.jsonl", "0198-codex"),
        ("codex_2025.jsonl", "old-codex"),
        ("trajectory.jsonl", "garden/plan 1"),
    ],
)
def test_every_format_is_found_out_and_replayed(outlive: Outlive, name: str, session: str) -> None:
    assert replayed(outlive, GARDEN / name)
    assert outlive("recall", "@h1", "--session", session).out


def test_a_transcript_can_be_replayed_where_it_lies(outlive: Outlive) -> None:
    from outlive.agent import Session
    from outlive.stores.logs.files import FileLogStore
    from tests.talk import Ticks, step

    with Session.start(FileLogStore(outlive.folder), id="mine", clock=Ticks()) as session:
        session.user_said("read it")
        for number in range(3):
            step(session, number, lines=500)
        last = session.engine.recall(len(session.engine.history.pages)).text
    lines = replayed(outlive, outlive.folder / ".transcripts" / "mine.jsonl")
    assert len(lines) == 3
    found = outlive("recall", "--search", last.splitlines()[-1], "--session", "mine-replay", "--json").json
    assert found


def test_an_export_can_be_replayed(outlive: Outlive, recording: Path) -> None:
    replayed(outlive, recording)
    export = outlive.folder / "export.jsonl"
    name = trajectory()["id"]
    assert outlive("session", "export", name, "-o", str(export)).code == 0
    lines = replayed(outlive, export)
    assert len(lines) == STEPS + 1
    assert outlive("recall", "@h1", "--session", f"{name}-replay").code == 0


# -- the report


def test_the_report_tells_sizes_costs_and_passes(outlive: Outlive, recording: Path) -> None:
    report = outlive("replay", str(recording), "--window", "20000", "--json").json
    assert report["session"] == trajectory()["id"]
    assert (report["window"], report["policy"]) == (20_000, "rich")
    assert 0 < report["ratio"] < 1
    assert report["largest_request"] <= 20_000 < report["largest_without_compaction"]
    assert report["passes"]
    assert report["passes"][0]["left"][0]["handles"]
    for turn in report["turns"]:
        assert sum(turn["kinds"].values()) == pytest.approx(turn["tokens"], abs=10)
    text = outlive("replay", str(recording), "--window", "20000", "--report", COLUMNS="90").out
    assert "▼" in text
    assert "of never compacting" in text
    assert all(len(line) <= 100 for line in text.splitlines()[:-1])
    assert "\x1b" not in text


def test_without_passes_the_cost_is_that_of_never_compacting(outlive: Outlive, recording: Path) -> None:
    report = outlive("replay", str(recording), "--window", "400000", "--policy", "max,cold=1", "--json").json
    assert report["passes"] == []
    assert report["ratio"] == pytest.approx(1.0, abs=0.15)  # the state block is the difference


def test_the_page_stands_on_its_own(outlive: Outlive, tmp_path: Path) -> None:
    form = trajectory(30, name='<script>alert("x")</script>')
    form["messages"][1]["content"][1]["input"]["file_path"] = "</script><b>&"
    path = tmp_path / "nasty.jsonl"
    path.write_text(json.dumps(form))
    result = outlive("replay", str(path), "--window", "12000", "--html", str(tmp_path / "report.html"))
    assert result.code == 0, result.err
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert not re.search(r"(?:src|href)\s*=|@import|url\(|http", page)
    assert "<script>alert" not in page
    assert "</script><b>" not in page
    assert page.count("<svg") == 2
    assert "prefers-color-scheme: dark" in page


def test_progress_is_shown_on_a_terminal(outlive: Outlive, recording: Path) -> None:
    import os
    import pty
    import subprocess
    import sys

    screen, terminal = pty.openpty()
    run = subprocess.run(
        [sys.executable, "-m", "outlive", "replay", str(recording)],
        cwd=outlive.folder,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        check=True,
    )
    os.close(terminal)
    assert run.returncode == 0
    said = os.read(screen, 10_000).decode()
    os.close(screen)
    assert f"40 of {STEPS + 1} model calls" in said


def test_progress_is_not_written_into_pipes(outlive: Outlive, recording: Path) -> None:
    assert outlive("replay", str(recording)).err == ""


# -- policies


def test_policies_are_data(outlive: Outlive, recording: Path) -> None:
    (outlive.folder / "outlive.toml").write_text(
        '[context]\npolicy = "mine"\nwindow = 16000\n[context.policies.mine]\nbase = "lean"\nengage = 0.5\n'
    )
    report = outlive("replay", str(recording), "--json").json
    assert (report["policy"], report["window"]) == ("mine", 16_000)
    assert report["largest_request"] <= 0.5 * 16_000 + 4_000


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("nope", "no policy 'nope'; there are lean, medium, rich, max"),
        ("rich,engage", "not of the form engage=0.7"),
        ("rich,speed=1", "'speed' is not a setting of a policy"),
        ("rich,engage=-1", "engage = -1.0 cannot be; it is from 0.05 to 1"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(outlive: Outlive, recording: Path, policy: str, reason: str) -> None:
    result = outlive("replay", str(recording), "--policy", policy)
    assert result.code == 1
    assert reason in result.err


@pytest.mark.parametrize("text", ["[context]\nwindow = 'big'\n", "[contexts]\n", "[context]\nspeed = 1\n"])
def test_settings_that_make_no_sense_are_refused(outlive: Outlive, recording: Path, text: str) -> None:
    (outlive.folder / "outlive.toml").write_text(text)
    result = outlive("replay", str(recording))
    assert result.code == 1
    assert "outlive.toml" in result.err


# -- refusals


def test_what_cannot_fit_is_said_and_the_rest_is_written(outlive: Outlive, tmp_path: Path) -> None:
    form = trajectory(3)
    form["system"] = "rules " * 4000
    path = tmp_path / "large.jsonl"
    path.write_text(json.dumps(form))
    out = tmp_path / "out.jsonl"
    result = outlive("replay", str(path), "--window", "3000", "--requests-out", str(out))
    assert result.code == 1
    assert "cannot hold what must stay" in result.err
    assert "system" in result.err
    assert out.exists()


def test_wrong_usage_is_told_apart(outlive: Outlive, recording: Path, tmp_path: Path) -> None:
    assert outlive("replay", "missing.jsonl").code == 2
    assert outlive("replay", str(recording), "--window", "10").code == 2
    junk = tmp_path / "junk.jsonl"
    junk.write_text("{}")
    assert outlive("replay", str(junk)).code == 1
    result = outlive("replay", str(recording), "--requests-out", "no/such/folder/out.jsonl")
    assert result.code == 1
    assert "no/such/folder" in result.err


# -- the demo


def test_the_story_of_the_demo_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from outlive.cli.demo.replay import tell
    from outlive.stores.logs.files import FileLogStore

    tell(FileLogStore(tmp_path, durability="process"))
    said = capsys.readouterr().out
    assert said.count("✓") == 4
    assert "LOST" not in said
