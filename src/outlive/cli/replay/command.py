"""The command itself."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from outlive.cli.replay.requests import RequestWriter
from outlive.cli.session.common import open_store
from outlive.context.policy import POLICIES
from outlive.errors import StoreUnavailable
from outlive.importers import read_recording
from outlive.session.replay import Replay, check_replaceable


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--window", type=click.IntRange(min=1000), default=100_000, show_default=True, metavar="TOKENS")
@click.option("--policy", default="rich", show_default=True)
@click.option("--requests-out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
def replay(file: Path, window: int, policy: str, requests_out: Path | None) -> None:
    """Play a recorded session through the context engine."""
    recording = read_recording(file)
    with open_store() as store:
        check_replaceable(store, recording.id)
        played = Replay(recording, window=window, policy=POLICIES[policy])
        refused = []
        with _output(requests_out) as out:
            writer = RequestWriter(out) if out else None
            for step in played.steps():
                if step.request is None:
                    refused.append(step)
                elif writer:
                    writer.write(step.turn, step.request)
            played.save(store)
    for step in refused:
        click.echo(f"turn {step.turn}: {step.refused}", err=True)
    if refused:
        sys.exit(1)


@contextmanager
def _output(path: Path | None) -> Iterator[BinaryIO | None]:
    if path is None:
        yield None
        return
    partial = path.with_name(path.name + ".part")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(path)
    except OSError as error:
        raise StoreUnavailable(f"cannot write {path}: {error.strerror}") from None
