"""Store URLs. Kept apart so that reading one costs nothing."""

from pathlib import Path

from outlive.errors import ConfigError

FORMS = "files:FOLDER, sqlite:///FILE or postgresql://USER@HOST/DATABASE"


def path_of(url: str, base: Path) -> Path:
    """The file or folder a files: or sqlite: URL names. Relative ones are taken from `base`.

    As usual, sqlite:///name is relative and sqlite:////name is absolute.
    """
    scheme, _, rest = url.partition(":")
    text = rest.removeprefix("//")
    if scheme == "sqlite" and rest.startswith("///"):
        text = rest[3:]
    if not text or text == ":memory:":
        raise ConfigError(f"{url!r} names no file; a store must outlive the process. Use {FORMS}")
    return base / Path(text).expanduser()
