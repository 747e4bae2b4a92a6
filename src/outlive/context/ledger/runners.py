"""Programs that check something (tests, lint, types, build), known by name, and what wraps and starts them."""

import re
from collections.abc import Mapping, Sequence

from outlive.context.ledger.shell import SHELLS

_DIRECT = frozenset({"sudo", "time", "nice", "nohup", "command", "exec", "env", "timeout", "gtimeout", "stdbuf"})
_DIRECT_VALUES = frozenset({"-k", "-s", "-u", "-n", "-o", "-e", "-i"})
_RUNNING = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "coverage"), ("run",)),
    **dict.fromkeys(("npx", "bunx", "xvfb-run", "cross-env", "caffeinate", "direnv", "nix", "nix-shell"), ()),
    **dict.fromkeys(("docker", "docker-compose", "podman", "kubectl"), ("run", "exec")),
    **dict.fromkeys(("pnpm", "yarn", "npm"), ("exec", "dlx", "x")),
    **dict.fromkeys(("mise", "rtx", "asdf", "devbox", "bundle", "composer", "op"), ("exec", "x", "run")),
}
"""Programs that run another one, and the words that say so."""
_TASK = re.compile(
    r"(?:.*[-_:./])?(?:tests?|check|checks|lint|linter|build|compile|typecheck|types?|tsc|verify|ci|specs?|unit|e2e|"
    r"integration|vet|clippy|coverage|validate)(?:[-_:./].*)?"
)
_SCRIPT = re.compile(
    r"(?:run[-_]?)?(?:all[-_]?)?(?:tests?|checks?|lint|build|ci|verify)(?:[-_]\w+)*(?:\.\w+)?|test_\w+\.py"
)
_TASK_RUNNERS = frozenset({"make", "gmake", "just", "task", "rake", "invoke", "inv", "ninja", "mage", "doit", "moon"})
_ALWAYS: dict[str, str | None] = {
    **dict.fromkeys(("pytest", "py.test"), "pytest"),
    **dict.fromkeys(("jest", "vitest", "mocha", "ava", "jasmine", "karma"), "js"),
    **dict.fromkeys(("mypy", "pyright", "basedpyright", "flake8", "pylint", "eslint", "stylelint", "tsc", "vue-tsc")),
    **dict.fromkeys(
        ("shellcheck", "hadolint", "rubocop", "ctest", "tox", "nox", "bats", "busted", "nose2", "phpstan")
    ),
    **dict.fromkeys(
        ("actionlint", "yamllint", "markdownlint", "markdownlint-cli2", "svelte-check", "standard", "ty")
    ),
    **dict.fromkeys(("rspec", "phpunit", "pest", "paratest", "psalm", "credo", "detekt", "ktlint", "swiftlint")),
    "gotestsum": "go",
    "ginkgo": "go",
}
_BY_WORD: dict[str, Mapping[str, str | None]] = {
    "cargo": {
        "test": "cargo",
        "t": "cargo",
        "nextest": "cargo",
        **dict.fromkeys(("check", "clippy", "build", "b", "c")),
    },
    "go": {"test": "go", "vet": None, "build": None},
    "ruff": {"check": None},
    "deno": {"test": "js", "lint": None, "check": None},
    "bun": {"test": "js", "build": None},
    "playwright": {"test": "js"},
    "cypress": {"run": "js"},
    "biome": dict.fromkeys(("check", "lint", "ci")),
    "golangci-lint": dict.fromkeys(("run",)),
    "dotnet": dict.fromkeys(("test", "build")),
    "mix": dict.fromkeys(("test", "compile", "credo", "dialyzer")),
    "swift": dict.fromkeys(("test", "build")),
    "xcodebuild": dict.fromkeys(("test", "build")),
    "flutter": dict.fromkeys(("test", "analyze", "build")),
    "dart": dict.fromkeys(("test", "analyze", "compile")),
    "zig": dict.fromkeys(("test", "build")),
    "bazel": dict.fromkeys(("test", "build")),
    "sbt": dict.fromkeys(("test", "compile")),
    "lein": dict.fromkeys(("test", "check")),
    "stack": dict.fromkeys(("test", "build")),
    "cabal": dict.fromkeys(("test", "build")),
    "meson": dict.fromkeys(("test", "compile")),
    "pre-commit": dict.fromkeys(("run",)),
    "terraform": dict.fromkeys(("validate",)),
    "rails": dict.fromkeys(("test",)),
    "artisan": dict.fromkeys(("test",)),
    "gradle": dict.fromkeys(("test", "check", "build", "assemble", "lint", "connectedCheck")),
    "mvn": dict.fromkeys(("test", "verify", "package", "install", "compile", "integration-test")),
}
_WITH_FLAG = {
    "black": "--check",
    "isort": "--check",
    "prettier": "--check",
    "rustfmt": "--check",
    "cmake": "--build",
    "node": "--test",
}
_PACKAGES = frozenset({"npm", "pnpm", "yarn", "bun", "turbo", "nx", "lerna", "composer", "mise"})
_NO_TASK = frozenset(
    {"add", "remove", "install", "i", "why", "up", "upgrade", "info", "view", "link", "publish", "init"}
)
_MODULES = {
    "unittest": "unittest",
    "pytest": "pytest",
    "nose2": "unittest",
    "tox": None,
    "nox": None,
    "compileall": None,
}
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")


def _name(word: str) -> str:
    return word.rpartition("/")[2].removesuffix(".cmd").removesuffix(".exe")


def unwrapped(words: Sequence[str]) -> list[str]:
    """Without what only starts the program: `uv run`, `timeout 60`, `env A=1`, `docker compose run app` …"""
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
    """The family of what runs and the arguments that narrow it down; None for no check."""
    name, rest = (
        _name(words[0]).removesuffix("w") if words[0].endswith(("gradlew", "mvnw")) else _name(words[0]),
        words[1:],
    )
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
        return (_MODULES[module] or module, rest[2:]) if module in _MODULES else family_of(rest[1:])
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
    before, _, behind = _split(rest, "--")
    plain = [word for word in before if not word.startswith("-")]
    tasks = [word for word in plain if word not in ("run", "run-script", "workspace", "t", "tst")]
    if name == "npm" and {"t", "tst"} & set(plain[:1]):
        tasks = ["test", *tasks]
    if name in ("npm", "mise", "nx", "lerna") and plain[:1] not in (
        ["test"],
        ["run"],
        ["run-script"],
        ["t"],
        ["tst"],
        ["r"],
    ):
        return None
    at = next((at for at, task in enumerate(tasks) if _TASK.fullmatch(task) and "/" not in task), None)
    if at is None or (name == "bun" and plain[:1] != ["run"]) or _NO_TASK.intersection(tasks[:at]):
        return None
    chosen = [word for word in before if word.startswith(("--filter", "-F", "--workspace", "-w", "--prefix", "-C"))]
    return f"{name} {' '.join(tasks[: at + 1])}", [*(["--filter"] if chosen else []), *tasks[at + 1 :], *behind]


def _split(words: list[str], mark: str) -> tuple[list[str], list[str], list[str]]:
    at = words.index(mark) if mark in words else len(words)
    return words[:at], words[at : at + 1], words[at + 1 :]
