"""A workspace, the command line in it, and a server that plays the model."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from outlive.testing import Simulator
from tests.cli.command import Result
from tests.fork_server import Forked, fork_server

MODELS = ("anthropic:claude-sonnet-5-5", "openai:gpt-5.1")


class Client:
    """`outlive` as a user runs it, against a simulator."""

    def __init__(self, folder: Path, sim: Simulator, model: str = MODELS[0]) -> None:
        self.folder = folder
        self.model = model
        self.environment = dict(os.environ) | sim.env() | {"OUTLIVE_HOME": str(folder.parent / "home")}

    def start(self, *arguments: str) -> Forked:
        """Start it without waiting for its end."""
        given = [*self._model(arguments), *arguments]
        return fork_server().start(given, folder=self.folder, environment=self.environment)

    def __call__(self, *arguments: str, stdin: str | None = None, **environment: str) -> Result:
        return Result(
            fork_server().run(
                [*self._model(arguments), *arguments],
                folder=self.folder,
                environment=self.environment | environment,
                stdin=stdin,
            )
        )

    def _model(self, arguments: Sequence[str]) -> list[str]:
        return ["--model", self.model] if "-p" in arguments and self.model else []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small project."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "data.txt").write_text("".join(f"name_{number} = {number * 37}\n" for number in range(1000)))
    return work
