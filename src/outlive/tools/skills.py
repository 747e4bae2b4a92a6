"""Skills: `skills/*/SKILL.md`. The prompt has only their names and descriptions until one is loaded."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from outlive.regular import open_to_read, real_path
from outlive.tools.errors import ToolError
from outlive.tools.frontmatter import frontmatter

SKILL_FOLDERS = ("skills", ".outlive/skills")
"""Folders in the workspace. The first skill of a name wins; the user's own come last."""

MAX_NAME_CHARS = 64  # as Claude Code's skills have
MAX_DESCRIPTION_CHARS = 1024  # it is in every request that lists skills
MAX_HEAD_CHARS = 16_384  # read of each file for the listing; the frontmatter has to end within
MAX_FILE_BYTES = 256 * 1024  # a skill is loaded whole into the view
MAX_LISTING_CHARS = 16_000  # of all skills; others are counted, and can still be loaded by name


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that can be loaded."""

    name: str
    description: str
    path: Path


class Skills:
    """The skills of a workspace and of its user, read on demand: they may change during a session."""

    def __init__(self, root: Path, home: Path | None = None) -> None:
        self.root = root
        self._places = [root / place for place in SKILL_FOLDERS] + ([home / "skills"] if home else [])

    def found(self) -> dict[str, Skill]:
        """All usable skills by name."""
        return self._look()[0]

    def listing(self) -> str:
        """One line per skill for the prompt; empty without skills."""
        skills, damaged = self._look()
        lines = [f"- {skill.name}: {skill.description}" for skill in skills.values()]
        kept: list[str] = []
        for line in lines:
            if sum(map(len, kept)) + len(line) > MAX_LISTING_CHARS:
                kept.append(f"({len(lines) - len(kept)} more skills are not listed: the list is full)")
                break
            kept.append(line)
        return "\n".join([*kept, *(f"(cannot be used: {what})" for what in damaged[:10])])

    def load(self, name: str) -> str:
        """The text of a skill. Raises ToolError for an unknown name."""
        skills = self.found()
        skill = skills.get(name)
        if skill is None:
            known = f"the skills are: {', '.join(skills)}" if skills else "there are no skills here"
            raise ToolError(f"there is no skill {name!r}; {known}")
        try:
            text = _read(skill.path, MAX_FILE_BYTES)
        except OSError as error:
            raise ToolError(f"{skill.path}: cannot be read ({error.strerror})") from None
        return f"[skill {skill.name}, from {skill.path.parent}]\n{text}"

    def _look(self) -> tuple[dict[str, Skill], tuple[str, ...]]:
        skills: dict[str, Skill] = {}
        damaged: list[str] = []
        for path in self._files():
            try:
                skill = _skill(path)
            except (OSError, ValueError) as error:
                damaged.append(f"{path}: {getattr(error, 'strerror', None) or error}")
            else:
                skills.setdefault(skill.name, skill)
        return skills, tuple(damaged)

    def _files(self) -> Iterator[Path]:
        for place in self._places:
            if not place.is_dir():
                continue
            limit = real_path(self.root if place.is_relative_to(self.root) else place)
            for path in sorted(place.glob("*/SKILL.md")):
                if path.is_file() and real_path(path).is_relative_to(limit):  # no symlink leads out
                    yield path


def _skill(path: Path) -> Skill:
    head, _ = frontmatter(_read(path, MAX_HEAD_CHARS))
    name = head.get("name", path.parent.name)
    description = head.get("description", "")
    if not name.replace("-", "").replace("_", "").isalnum() or len(name) > MAX_NAME_CHARS:
        raise ValueError(f"{name[:MAX_NAME_CHARS]!r} is not a name: use letters, digits, - and _")
    if not description:
        raise ValueError("has no description in its frontmatter")
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise ValueError(f"its description is longer than {MAX_DESCRIPTION_CHARS} characters")
    return Skill(name, description, path)


def _read(path: Path, most: int) -> str:
    with open_to_read(real_path(path), MAX_FILE_BYTES) as file:
        raw = file.read(most)
    return raw.decode("utf-8", errors="strict" if len(raw) < most else "ignore")
