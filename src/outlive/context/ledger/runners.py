"""The names of programs that check something (tests, lint, types, build) and of programs that start them."""

import re
from collections.abc import Mapping, Sequence

from outlive.context.ledger.shell import SHELLS

_DIRECT = frozenset({"sudo", "time", "nice", "nohup", "command", "exec", "env", "timeout", "gtimeout", "stdbuf"})
_DIRECT_VALUES = frozenset({"-k", "-s", "-u", "-n", "-o", "-e", "-i"})
_RUNNING = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "coverage"), ("run",)),
    **dict.fromkeys(("npx", "bunx", "xvfb-run", "cross-env", "direnv", "nix", "nix-shell"), ()),
    **dict.fromkeys(("docker", "docker-compose", "podman", "kubectl"), ("run", "exec")),
    **dict.fromkeys(("pnpm", "yarn", "npm"), ("exec", "dlx", "x")),
    **dict.fromkeys(("mise", "asdf", "bundle", "composer"), ("exec", "x", "run")),
}
"""Programs that run another one, and the words that say so."""
_TASK = re.compile(
    r"(?:.*[-_:./])?(?:tests?|check|checks|lint|linter|build|compile|typecheck|types?|tsc|verify|ci|specs?|unit|e2e|"
    r"integration|vet|clippy|coverage|validate)(?:[-_:./].*)?"
)
_SCRIPT = re.compile(
    r"(?:run[-_]?)?(?:all[-_]?)?(?:tests?|checks?|lint|build|ci|verify)(?:[-_]\w+)*(?:\.\w+)?|test_\w+\.py"
)
_TASK_RUNNERS = frozenset({"make", "gmake", "just", "task", "rake", "invoke", "inv", "ninja"})
_ALWAYS: dict[str, str | None] = {
    **dict.fromkeys(("pytest", "py.test"), "pytest"),
    **dict.fromkeys(("jest", "vitest", "mocha"), "js"),
    **dict.fromkeys(("mypy", "pyright", "basedpyright", "ty", "flake8", "pylint", "tox", "nox", "shellcheck")),
    **dict.fromkeys(
        ("eslint", "stylelint", "tsc", "vue-tsc", "svelte-check", "rspec", "rubocop", "phpunit", "ctest")
    ),
    "gotestsum": "go",
}
"""Programs that do nothing but check, and their family if it has another name."""
_BY_WORD: dict[str, Mapping[str, str | None]] = {
    "cargo": {
        **dict.fromkeys(("test", "t", "nextest"), "cargo"),
        **dict.fromkeys(("check", "clippy", "build", "b", "c")),
    },
    "go": {"test": "go", "vet": None, "build": None},
    "ruff": {"check": None},
    "deno": {"test": "js", "lint": None, "check": None},
    "bun": {"test": "js", "build": None},
    "playwright": {"test": "js"},
    "biome": dict.fromkeys(("check", "lint", "ci")),
    "golangci-lint": {"run": None},
    "pre-commit": {"run": None},
    "mix": dict.fromkeys(("test", "compile", "credo", "dialyzer")),
    **dict.fromkeys(("dotnet", "swift", "flutter"), dict.fromkeys(("test", "build"))),
    "gradle": dict.fromkeys(("test", "check", "build", "assemble", "lint")),
    "mvn": dict.fromkeys(("test", "verify", "package", "install", "compile")),
}
"""Programs that check when told to by one of these words."""
_WITH_FLAG = {
    **dict.fromkeys(("black", "isort", "prettier", "rustfmt"), "--check"),
    "cmake": "--build",
    "node": "--test",
}
_PACKAGES = frozenset({"npm", "pnpm", "yarn", "bun", "turbo", "nx", "composer", "mise"})
_RUN_ONLY = frozenset({"npm", "mise", "nx"})
"""Those that run a task of the project only after the word `run`."""
_NO_TASK = frozenset(
    {"add", "remove", "install", "i", "why", "up", "upgrade", "info", "view", "link", "publish", "init"}
)
_MODULES = {
    "unittest": "unittest",
    "pytest": "pytest",
    "nose2": "unittest",
    "tox": "tox",
    "nox": "nox",
    "compileall": "compileall",
}
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")


def _name(word: str) -> str:
    return word.rpartition("/")[2].removesuffix(".cmd").removesuffix(".exe")


def unwrapped(words: Sequence[str]) -> list[str]:
    """The words without wrappers: `uv run`, `timeout 60`, `env A=1`, `docker compose run app` …"""
    left = list(words)
    for _ in range(6):
        name = _name(left[0]) if left else ""
        if name in _DIRECT:
            left = _after_options(left[1:], name)
        elif name in _RUNNING and (not _RUNNING[name] or set(_RUNNING[name]) & set(left[1:4])):
            at = next((at for at, word in enumerate(left[1:], 1) if _is_known(word)), 0)
            if not at:
                break
            left = left[at:]
        else:
            break
    return left


def _after_options(words: list[str], name: str) -> list[str]:
    at = 0
    while at < len(words) and (words[at].startswith("-") or ("=" in words[at] and name == "env")):
        at += 2 if words[at] in _DIRECT_VALUES else 1
    return words[at + 1 :] if name in ("timeout", "gtimeout") else words[at:]


def _is_known(word: str) -> bool:
    name = _name(word)
    known = name in _ALWAYS or name in _BY_WORD or name in _WITH_FLAG or name in _TASK_RUNNERS or name in _PACKAGES
    return known or _PYTHON.fullmatch(name) is not None


def family_of(words: list[str]) -> tuple[str, list[str]] | None:
    """The family of a check and the arguments that narrow it down; None if the command is no check."""
    name, rest = _name(words[0]), words[1:]
    if name in ("gradlew", "mvnw"):
        name = name[:-1]
    if _PYTHON.fullmatch(name):
        return _python(rest)
    if name in _ALWAYS:
        return _ALWAYS[name] or name, rest[1:] if rest[:1] == ["run"] else rest
    if name in SHELLS and rest:
        return (_name(rest[0]), rest[1:]) if _SCRIPT.fullmatch(_name(rest[0])) else None
    if name in _WITH_FLAG:
        return (name, rest) if any(word.startswith(_WITH_FLAG[name]) for word in rest) else None
    if name in _PACKAGES and (found := _package_task(name, rest)):
        return found
    if name in _BY_WORD:
        return _by_word(name, rest)
    if name in _TASK_RUNNERS:
        tasks = [word for word in rest if not word.startswith("-") and "=" not in word]
        built = name in ("make", "gmake", "ninja") and not tasks
        return (f"{name} {' '.join(tasks)}".strip(), []) if built or any(map(_TASK.fullmatch, tasks)) else None
    if "/" in words[0] and _SCRIPT.fullmatch(name):
        return name, rest
    return None


def _python(rest: list[str]) -> tuple[str, list[str]] | None:
    while rest and rest[0] in ("-W", "-X"):
        rest = rest[2:]
    while rest and rest[0] != "-m" and rest[0].startswith("-"):
        if rest[0] == "-c":
            return None
        rest = rest[1:]
    if rest[:1] == ["-m"] and len(rest) > 1:
        module = rest[1]
        return (_MODULES[module], rest[2:]) if module in _MODULES else family_of(rest[1:])
    if not rest:
        return None
    if rest[0].endswith("manage.py") and rest[1:2] == ["test"]:
        return "unittest", rest[2:]
    return (rest[0], rest[1:]) if _SCRIPT.fullmatch(_name(rest[0])) else None


def _by_word(name: str, rest: list[str]) -> tuple[str, list[str]] | None:
    if name in ("mvn", "gradle"):
        tasks = [word for word in rest if word.rpartition(":")[2] in _BY_WORD[name]]
        return (f"{name} {' '.join(tasks)}", [word for word in rest if word not in tasks]) if tasks else None
    at = next((at for at, word in enumerate(rest) if not word.startswith(("-", "+"))), None)
    if at is None or rest[at] not in _BY_WORD[name]:
        formats = name in ("cargo", "ruff", "mix", "deno") and rest[:1] in (["fmt"], ["format"])
        checked = formats and any(word.startswith("--check") for word in rest)
        return (f"{name} format", rest[1:]) if checked else None
    after = rest[at + 1 :]
    if rest[at] == "nextest":
        after = after[1:]
    before = [word for word in rest[:at] if not word.startswith("+")]
    return _BY_WORD[name][rest[at]] or f"{name} {rest[at]}", [*before, *after]


def _package_task(name: str, rest: list[str]) -> tuple[str, list[str]] | None:
    """`npm test`, `pnpm --filter x run lint`, `yarn build`: a task of the project."""
    end = rest.index("--") if "--" in rest else len(rest)
    before, behind = rest[:end], rest[end + 1 :]
    plain = [word for word in before if not word.startswith("-")]
    tasks = [word for word in plain if word not in ("run", "run-script", "workspace", "t", "tst")]
    if name == "npm" and {"t", "tst"} & set(plain[:1]):
        tasks = ["test", *tasks]
    if name in _RUN_ONLY and not {"test", "run", "run-script", "t", "tst", "r"} & set(plain[:1]):
        return None
    at = next((at for at, task in enumerate(tasks) if _TASK.fullmatch(task) and "/" not in task), None)
    if at is None or (name == "bun" and plain[:1] != ["run"]) or _NO_TASK.intersection(tasks[:at]):
        return None
    chosen = [word for word in before if word.startswith(("--filter", "-F", "--workspace", "-w", "--prefix", "-C"))]
    return f"{name} {' '.join(tasks[: at + 1])}", [*(["--filter"] if chosen else []), *tasks[at + 1 :], *behind]
