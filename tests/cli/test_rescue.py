"""`outlive rescue` and `outlive --from` as a user has them."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from outlive.testing import Simulator, say
from outlive.testing.simulator import SeenRequest, Step
from tests.cli.command import Outlive

DATA = Path(__file__).parent.parent / "replay" / "importers" / "data"
CLAUDE, CODEX = (
    "5f1c0c1e-0000-4000-8000-00000000c0de",
    "rollout-2026-03-01T10-00-00-019c0000-0000-7000-8000-0000000c0de0",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A machine on which both agents have worked."""
    home = tmp_path / "home"
    claude, codex = home / ".claude/projects/-home-me-garden", home / ".codex/sessions/2026/03/01"
    for folder, source, name in ((claude, "claude_code", CLAUDE), (codex, "codex", CODEX)):
        folder.mkdir(parents=True)
        shutil.copy(DATA / f"{source}.jsonl", folder / f"{name}.jsonl")
    (claude / "agent-1.jsonl").write_text("{}\n")
    os.mkfifo(claude / "pipe.jsonl")
    (claude / "link.jsonl").symlink_to("/dev/zero")
    return home


@pytest.fixture
def outlive(home: Path) -> Outlive:
    folder = home / "work"
    folder.mkdir()
    command = Outlive(folder)
    command.environment |= {"HOME": str(home)}
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        command.environment.pop(name, None)
    return command


def traces(home: Path) -> dict[str, str]:
    files = [*home.glob(".claude/**/*-*.jsonl"), *home.glob(".codex/**/*.jsonl")]
    return {str(path): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}" for path in files}


def test_the_sessions_of_all_clients_are_listed_newest_first(outlive: Outlive, home: Path) -> None:
    os.utime(next(home.glob(f".claude/**/{CLAUDE}.jsonl")), (2_000_000_000, 2_000_000_000))
    found = outlive("rescue", "--list", "--json").json
    assert [(one["client"], one["folder"]) for one in found] == [
        ("claude-code", "/home/me/garden"),
        ("codex", found[1]["folder"]),
    ]
    assert found[0]["about"].startswith("Plan the beds.")
    assert found[1]["about"]
    assert CLAUDE in outlive("rescue").out
    folder = next(home.glob(".codex/sessions/2026/03/01"))
    long = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "a long story " * 99}}
    (folder / "rollout-9.jsonl").write_text(json.dumps(long))
    assert "a long story a long" in outlive("rescue").out
    assert "left out" not in outlive("rescue").out
    (folder / "rollout-9.jsonl").unlink()
    assert [one["client"] for one in outlive("rescue", "--list", "-n", "1", "--json").json] == ["claude-code"]


def test_without_sessions_it_says_so(outlive: Outlive, home: Path) -> None:
    shutil.rmtree(home / ".claude")
    shutil.rmtree(home / ".codex")
    result = outlive("rescue")
    assert (result.code, result.err) == (1, "no sessions of Claude Code, Codex, pi or opencode are on this machine\n")


def test_a_session_is_told_by_the_beginning_of_its_id_and_nothing_is_changed(outlive: Outlive, home: Path) -> None:
    before = traces(home)
    told = outlive("rescue", "5f1c").out
    assert "Asked first\n  Plan the beds. Never plant mint." in told
    assert "damaged: " in told
    assert outlive("rescue", "019c").code == 0
    assert len(outlive("rescue", "5f1c", "--for", "codex").out) <= 10_001
    assert outlive("rescue", "5f1c", "--json").json["requests"][0] == "Plan the beds. Never plant mint."
    assert traces(home) == before
    assert list(outlive.folder.iterdir()) == []


def test_every_session_that_is_listed_is_found_by_its_id(outlive: Outlive, home: Path) -> None:
    folder = home / ".pi/agent/sessions/--home-me-garden--"
    folder.mkdir(parents=True)
    id = "4118470e-fee5-4860-b4f7-b1b220b465b9"
    rows = [
        {"type": "session", "version": 3, "id": id, "timestamp": "2026-11-19T20:42:17Z", "cwd": "/home/me/garden"},
        {
            "type": "model_change",
            "id": "m",
            "parentId": None,
            "provider": "anthropic",
            "modelId": "claude-sonnet-5-5",
        },
        {"type": "message", "id": "a", "parentId": "m", "message": {"role": "user", "content": "Plan the beds."}},
    ]
    (folder / f"2026-11-19T20-42-17-328Z_{id}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    listed = [one["id"] for one in outlive("rescue", "--list", "--json").json]
    assert id in listed
    assert [outlive("rescue", one, "--json").err for one in listed] == [""] * len(listed)


def test_what_is_not_there_and_what_is_not_clear_is_refused_with_a_way_out(outlive: Outlive, home: Path) -> None:
    nothing = outlive("rescue", "beef")
    assert (nothing.code, "outlive rescue --list" in nothing.err) == (1, True)
    folder = next(home.glob(".claude/projects/*"))
    shutil.copy(folder / f"{CLAUDE}.jsonl", folder / f"{CLAUDE[:-1]}f.jsonl")
    twice = outlive("rescue", "5f1c")
    assert (twice.code, "fits 2 sessions" in twice.err) == (1, True)


def test_it_is_kept_as_a_session_once_more_each_time(outlive: Outlive) -> None:
    first = outlive("rescue", "5f1c", "--keep", "--json").json["session"]
    assert first == CLAUDE
    again = outlive("rescue", "5f1c", "--keep")
    assert f"go on with: outlive --resume {CLAUDE}.2" in again.out
    assert {one["id"] for one in outlive("session", "list", "--json").json} == {CLAUDE, f"{CLAUDE}.2"}


@pytest.mark.parametrize("command", [["--from"], ["resume", "--from"]])
def test_the_agent_goes_on_with_it_in_the_mode_of_this_folder(outlive: Outlive, command: list[str]) -> None:
    def brain(request: SeenRequest) -> Step:
        return say("The beds are next.") if "bash" in request.tools else say('{"memories": []}')

    with Simulator(brain=brain) as sim:
        outlive.environment |= sim.env()
        result = outlive(*command, "5f1c", "-p", "What is next?", "-m", "anthropic:claude-sonnet-5-5")
    assert (result.code, result.out) == (0, "The beds are next.\n"), result.err
    assert sim.refusals == []
    (request, *_) = sim.requests
    assert "Plan the beds. Never plant mint." in request.text
    assert "Permission mode: ask" in request.text
    assert "Scratchpad: This session began in claude-code, where tools had other names." in request.text


def test_only_one_session_can_be_gone_on_with(outlive: Outlive) -> None:
    result = outlive("--from", "5f1c", "--continue", "-p", "x")
    assert (result.code, "give one of them" in result.err) == (2, True)
    result = outlive("resume", "5f1c", "--from", "5f1c", "-p", "x")
    assert (result.code, "use one of them" in result.err) == (2, True)


def test_resume_goes_on_with_a_session_by_id_or_with_the_newest(outlive: Outlive) -> None:
    outlive("rescue", "5f1c", "--keep")
    with Simulator(brain=lambda _: say("The beds are next.")) as sim:
        outlive.environment |= sim.env()
        for named in ([CLAUDE], []):
            result = outlive("resume", *named, "-p", "What is next?", "-m", "anthropic:claude-sonnet-5-5")
            assert (result.code, result.out) == (0, "The beds are next.\n"), result.err
    assert all("Plan the beds. Never plant mint." in request.text for request in sim.requests)
