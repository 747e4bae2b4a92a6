"""Going back to before a message: what returns in the conversation and on disk, and what is left alone."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from outlive import Agent
from outlive.agent.rewind import Rewound
from outlive.agent.session import NothingToUndo
from outlive.events import FilesChanged, Noted, UserSaid
from outlive.messages import plain_text
from outlive.request import Request
from outlive.testing import ScriptedModel, call, say
from outlive.testing.simulator import Step

SECRET = "token = ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def play(
    folder: Path, *rounds: list[Any], then: Callable[[Agent], Awaitable[None]], store: str | None = None
) -> None:
    """Let an agent work through messages, one for each list of steps, and then do something with it."""

    async def work() -> None:
        script = [step for steps in rounds for step in (*steps, say("done"))]
        async with Agent(folder, model=ScriptedModel(script), mode="bypass", store=store or None) as agent:
            for number, _ in enumerate(rounds):
                await agent.run(f"message {number}")
            await then(agent)

    asyncio.run(work())


async def back(agent: Agent, message: int, **options: bool) -> Rewound:
    """Go back to before a message, counted from the first."""
    return await agent.rewind(agent.prompts[::-1][message].event, **options)


def test_files_that_tools_and_commands_changed_are_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("one\n")
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "gone.bin").write_bytes(b"\0\xff binary")

    async def then(agent: Agent) -> None:
        assert [prompt.text for prompt in agent.prompts] == ["message 1", "message 0"]
        assert agent.prompts[0].files == ("app.py", "gone.bin", "made/new.txt", "run.sh")
        rewound = await back(agent, 1)
        assert sorted(rewound.files.written) == ["app.py", "gone.bin", "run.sh"]
        assert rewound.files.deleted == ("made/new.txt",)
        assert rewound.files.skipped == ()

    edit = [call("read_file", path="app.py"), call("edit_file", path="app.py", old_text="one", new_text="two")]
    command = "echo three > app.py; rm gone.bin; mkdir made; echo x > made/new.txt; chmod 644 run.sh; echo >> run.sh"
    play(tmp_path, edit, [call("bash", command=command)], then=then)
    assert (tmp_path / "app.py").read_text() == "two\n"
    assert (tmp_path / "gone.bin").read_bytes() == b"\0\xff binary"
    assert (tmp_path / "run.sh").read_text() == "#!/bin/sh\n"
    assert os.stat(tmp_path / "run.sh").st_mode & 0o777 == 0o755
    assert not (tmp_path / "made/new.txt").exists()


def test_the_conversation_goes_back_with_the_files_or_without_them(tmp_path: Path) -> None:
    write = call("write_file", path="a.txt", content="x")

    async def then(agent: Agent) -> None:
        await back(agent, 1, conversation=False)
        assert not (tmp_path / "b.txt").exists()
        assert [prompt.text for prompt in agent.prompts] == ["message 1", "message 0"]
        assert any(isinstance(event, Noted) and "deleted: b.txt" in event.text for event in agent.events)
        await back(agent, 0, files=False)
        assert (tmp_path / "a.txt").read_text() == "x"
        assert agent.prompts == []
        assert not any(isinstance(event, UserSaid) for event in agent.events)

    play(tmp_path, [write], [call("bash", command="echo y > b.txt")], then=then)


def test_a_change_is_known_after_the_conversation_went_back(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first")

    async def then(agent: Agent) -> None:
        await back(agent, 1, files=False)
        await back(agent, 0)
        assert (tmp_path / "a.txt").read_text() == "first"

    play(tmp_path, [], [call("bash", command="echo second > a.txt")], then=then)


def test_what_somebody_else_changed_since_stays_and_is_said(tmp_path: Path) -> None:
    for name in ("after.txt", "between.txt", "free.txt"):
        (tmp_path / name).write_text("first\n")

    def edited_by_hand(request: Request) -> Step:
        (tmp_path / "between.txt").write_text("by hand\n")
        return call("bash", command="echo third | tee between.txt")

    async def then(agent: Agent) -> None:
        (tmp_path / "after.txt").write_text("by hand\n")
        rewound = await back(agent, 0)
        assert rewound.files.written == ("free.txt",)
        assert dict(rewound.files.skipped) == {
            "after.txt": "somebody else changed it since",
            "between.txt": "somebody else changed it in between",
        }

    first = call("bash", command="for name in *.txt; do echo second > $name; done")
    play(tmp_path, [first, edited_by_hand], then=then)
    assert (tmp_path / "after.txt").read_text() == "by hand\n"
    assert (tmp_path / "between.txt").read_text() == "third\n"
    assert (tmp_path / "free.txt").read_text() == "first\n"


def test_a_restore_can_be_reverted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first")
    (tmp_path / "secret.cfg").write_text("none")

    async def then(agent: Agent) -> None:
        with pytest.raises(NothingToUndo):
            await agent.revert_restore()
        await back(agent, 0)
        assert (tmp_path / "a.txt").read_text() == "first"
        restored = await agent.revert_restore()
        assert sorted(restored.written) == ["a.txt", "new.txt", "secret.cfg"]
        assert (tmp_path / "a.txt").read_text() == "second\n"
        assert (tmp_path / "secret.cfg").read_text().strip() == SECRET
        await agent.revert_restore()
        assert (tmp_path / "a.txt").read_text() == "first"
        assert not (tmp_path / "new.txt").exists()

    command = f"echo second > a.txt; echo x > new.txt; echo {SECRET!r} > secret.cfg"
    play(tmp_path, [call("bash", command=command)], then=then)


@pytest.mark.parametrize("command", ["printf changed > secret.cfg", "rm secret.cfg"])
def test_a_file_with_a_secret_is_restored_and_its_content_reaches_no_store(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "secret.cfg").write_text(SECRET)

    async def then(agent: Agent) -> None:
        await back(agent, 0)

    play(folder, [call("bash", command=command)], then=then)
    assert (folder / "secret.cfg").read_text() == SECRET
    ours = [
        path for name in (".transcripts", ".task_outputs") for path in (folder / name).rglob("*") if path.is_file()
    ]
    assert ours
    assert not [path for path in ours if b"ghp_a1B2" in path.read_bytes()]


def test_what_outlive_keeps_in_a_home_inside_of_the_workspace_is_not_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home" / ".outlive"))

    async def then(agent: Agent) -> None:
        rewound = await back(agent, 0)
        assert (rewound.files.deleted, rewound.files.skipped) == (("a.txt",), ())

    play(tmp_path, [call("bash", command="echo x > a.txt")], [call("bash", command="true")], then=then)


def test_what_cannot_be_restored_is_said(tmp_path: Path) -> None:
    (tmp_path / "large.bin").write_bytes(os.urandom(2 * 2**20))

    async def then(agent: Agent) -> None:
        rewound = await back(agent, 0)
        assert rewound.files.skipped == (("large.bin", "its earlier content was not kept"),)

    play(tmp_path, [call("bash", command="echo small > large.bin")], then=then)
    assert (tmp_path / "large.bin").read_text() == "small\n"


def test_links_do_not_lead_a_restore_out_of_the_workspace(tmp_path: Path) -> None:
    folder, outside = tmp_path / "work", tmp_path / "outside"
    (folder / "sub").mkdir(parents=True)
    outside.mkdir()
    (folder / "sub/a.txt").write_text("first")
    (outside / "a.txt").write_text("second\n")

    async def then(agent: Agent) -> None:
        (folder / "sub/a.txt").unlink()
        (folder / "sub").rmdir()
        (folder / "sub").symlink_to(outside)
        rewound = await back(agent, 0)
        assert [path for path, _ in rewound.files.skipped] == ["sub/a.txt"]

    play(folder, [call("bash", command="echo second > sub/a.txt")], then=then)
    assert (outside / "a.txt").read_text() == "second\n"


def test_only_a_message_of_the_user_can_be_gone_back_to(tmp_path: Path) -> None:
    async def then(agent: Agent) -> None:
        with pytest.raises(NothingToUndo, match="is no message of the user"):
            await agent.rewind(1)

    play(tmp_path, [], then=then)


def test_another_process_restores_what_this_one_changed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first")
    session = ""

    async def then(agent: Agent) -> None:
        nonlocal session
        session = agent.session

    play(tmp_path, [call("bash", command="echo second > a.txt")], then=then, store="sqlite:///s.db")
    script = """if True:
        import asyncio, sys
        from outlive import Agent
        from outlive.testing import ScriptedModel
        async def work():
            async with Agent(".", model=ScriptedModel([]), resume=sys.argv[1], store="sqlite:///s.db") as agent:
                await agent.rewind(agent.prompts[-1].event)
        asyncio.run(work())
    """
    subprocess.run([sys.executable, "-c", script, session], cwd=tmp_path, check=True)
    assert (tmp_path / "a.txt").read_text() == "first"


def test_what_a_killed_command_changed_is_restored(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first")
    script = """if True:
        import asyncio, os, signal
        from outlive import Agent
        from outlive.testing import ScriptedModel, call
        async def work():
            kill = f"echo second > a.txt; kill -9 {os.getpid()}; sleep 60"
            async with Agent(".", model=ScriptedModel([call("bash", command=kill)]), mode="bypass") as agent:
                await agent.run("go")
        asyncio.run(work())
    """
    died = subprocess.run([sys.executable, "-c", script], cwd=tmp_path)
    assert died.returncode == -9
    assert (tmp_path / "a.txt").read_text() == "second\n"
    log = next((tmp_path / ".transcripts").glob("*.jsonl"))

    async def work() -> None:
        async with Agent(tmp_path, model=ScriptedModel([]), resume=log.stem) as agent:
            await back(agent, 0)

    asyncio.run(work())
    assert (tmp_path / "a.txt").read_text() == "first"


def test_a_subagent_changes_files_on_behalf_of_its_parent(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first")

    async def then(agent: Agent) -> None:
        await back(agent, 0)

    job = call("subagent", prompt="change it", description="change")
    play(tmp_path, [job, call("bash", command="echo second > a.txt"), say("changed")], then=then)
    assert (tmp_path / "a.txt").read_text() == "first"


def test_nothing_is_kept_when_checkpoints_are_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, folder = tmp_path / "home", tmp_path / "work"
    monkeypatch.setenv("OUTLIVE_HOME", str(home))
    home.mkdir()
    folder.mkdir()
    (home / "outlive.toml").write_text("[agent]\ncheckpoints = false\n")

    async def then(agent: Agent) -> None:
        assert not any(isinstance(event, FilesChanged) for event in agent.events)
        with pytest.raises(NothingToUndo, match="checkpoints"):
            await back(agent, 0)

    play(folder, [call("bash", command="echo second > a.txt")], then=then)
    assert not list(home.rglob("files.db"))


def test_the_words_said_show_what_is_left_of_them(tmp_path: Path) -> None:
    async def then(agent: Agent) -> None:
        agent.queue("later")
        await back(agent, 1)
        said = [plain_text(event.blocks) for event in agent.events if isinstance(event, UserSaid)]
        assert said == ["message 0"]
        assert agent._runtime.queued == ()

    play(tmp_path, [], [], then=then)
