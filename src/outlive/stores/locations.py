"""Store URLs, and the files and folders of a store. Separate from the engines, so that parsing a URL loads none."""

from pathlib import Path

from outlive.errors import ConfigError

URL_FORMS = "files:FOLDER, sqlite:///FILE or postgresql://USER@HOST/DATABASE"
TRANSCRIPTS, MEMORY, OUTPUTS = ".transcripts", ".memory", ".task_outputs"
"""Beside the folder of the tasks."""


def path_of(url: str, base: Path) -> Path:
    """The file or folder that a files: or sqlite: URL names; relative paths start at `base`.

    As usual, sqlite:///name is relative and sqlite:////name is absolute.
    """
    scheme, _, rest = url.partition(":")
    text = rest.removeprefix("//")
    if scheme == "sqlite" and rest.startswith("///"):
        text = rest[3:]
    if not text or text == ":memory:":
        raise ConfigError(f"{url!r} names no file; a store must outlive the process. Use {URL_FORMS}")
    return base / Path(text).expanduser()


def places(url: str, base: Path) -> dict[str, Path]:
    """The paths of tasks, sessions, memory and outputs; empty for a server."""
    scheme = url.partition(":")[0]
    if scheme == "files":
        tasks = path_of(url, base)
        beside = {"sessions": TRANSCRIPTS, "memory": MEMORY, "outputs": OUTPUTS}
        return {"tasks": tasks, **{what: tasks.parent / name for what, name in beside.items()}}
    if scheme == "sqlite":
        return dict.fromkeys(("tasks", "sessions", "memory", "outputs"), path_of(url, base))
    return {}


def files_of(url: str, base: Path) -> list[Path]:
    """The same as a list of paths, including the files that SQLite keeps beside its database."""
    found = [*dict.fromkeys(places(url, base).values())]
    if url.startswith("sqlite:"):
        found += [path.with_name(path.name + more) for path in found for more in ("-wal", "-shm", "-journal")]
    return found
