"""The house has one direction. Walks the code itself, so that imports inside of functions count too."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.tasks.shape import find_cycle
from tests.engines import ROOT, worker_environment

SOURCE = ROOT / "src"

LINES: tuple[tuple[str, ...], ...] = (
    ("outlive", "outlive.__main__"),
    ("outlive.cli", "outlive.web", "outlive.mcp", "outlive.acp", "outlive.adapters"),
    ("outlive.work",),
    ("outlive.options",),
    ("outlive.clients",),
    ("outlive.testing",),
    ("outlive.conversation",),
    ("outlive.replay",),
    ("outlive.agent",),
    ("outlive.loop",),
    ("outlive.limits",),
    ("outlive.tools",),
    ("outlive.result",),
    ("outlive.models", "outlive.context"),
    ("outlive.request",),
    ("outlive.memory",),
    ("outlive.tasks",),
    ("outlive.stores",),
    ("outlive.state",),
    ("outlive.events",),
    ("outlive.stream",),
    ("outlive.origin",),
    ("outlive.messages",),
    ("outlive.instructions",),
    ("outlive.sentences",),
    ("outlive.config",),
    ("outlive.shell",),
    ("outlive.secrets",),
    ("outlive.regular",),
    ("outlive.private",),
    ("outlive.printable",),
    ("outlive.ending",),
    ("outlive.errors",),
)
"""DESIGN.md, "The house": each line may import only the lines below it, and within a room itself."""

ALLOWED_BESIDE = {
    (face, "outlive") for face in ("outlive.acp", "outlive.cli", "outlive.clients", "outlive.mcp", "outlive.web")
}
"""A face says which version it is a face of."""

FORBIDDEN_IN_CONTEXT = {"os", "io", "socket", "subprocess", "time", "random", "pathlib", "asyncio", "threading"}

HEAVY = (
    *("click", "rich", "pydantic", "sqlalchemy", "psycopg", "sqlite3", "asyncio", "filelock"),
    *("tree_sitter", "tree_sitter_bash", "acp", "mcp", "mcp_types", "starlette", "uvicorn"),
    *("agents", "claude_agent_sdk", "langchain", "langgraph", "pydantic_ai"),
    *("anthropic", "openai", "httpx", "requests", "yaml", "numpy", "pytest", "hypothesis", "unittest"),
)


def modules() -> dict[str, Path]:
    """Every module of the package, by its name."""
    found = {}
    for path in sorted((SOURCE / "outlive").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(tree: ast.AST, module: str) -> Iterator[str]:
    """Full names of what a module imports, wherever the statement stands, and by name in a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else str(node.module)


def named(tree: ast.AST) -> set[str]:
    """Modules of ours that are named in strings, to be imported later."""
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str) and value in MODULES and "." in value}


def ours(module: str, *, by_name: bool) -> set[str]:
    tree = ast.parse(MODULES[module].read_text())
    found = {name for name in imports(tree, module) if name in MODULES}
    return (found | named(tree) if by_name else found) - {module}


def room(module: str) -> str:
    """The first two parts of the name: what a line of the house speaks of."""
    return ".".join(module.split(".")[:2])


def line(module: str) -> int:
    return next(index for index, rooms in enumerate(LINES) if room(module) in rooms)


def allowed(importer: str, imported: str) -> bool:
    here, there = room(importer), room(imported)
    return here == there or line(importer) < line(imported) or (here, there) in ALLOWED_BESIDE


def test_every_module_belongs_to_a_line_of_the_house() -> None:
    known = {name for rooms in LINES for name in rooms}
    assert {room(module) for module in MODULES} <= known


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_only_downwards(module: str) -> None:
    wrong = [other for other in ours(module, by_name=True) if not allowed(module, other)]
    assert not wrong, f"{module} must not import {wrong}: see DESIGN.md, 'The house'"


def test_the_rule_would_notice_an_import_upwards() -> None:
    assert not allowed("outlive.stores.tasks.files", "outlive.tasks.graph")
    assert not allowed("outlive.tasks.graph", "outlive.cli")
    assert not allowed("outlive.agent", "outlive.testing")
    assert not allowed("outlive.cli", "outlive.web")
    assert not allowed("outlive.models", "outlive.context")
    assert not allowed("outlive.errors", "outlive.config")
    assert allowed("outlive.cli", "outlive.testing")
    tree = ast.parse("def f():\n    from outlive.tasks import graph\n    import outlive.cli\nx = 'outlive.config'")
    assert {*imports(tree, "x"), *named(tree)} == {"outlive.tasks.graph", "outlive.cli", "outlive.config"}


def test_no_module_imports_itself_by_a_detour() -> None:
    cycle = find_cycle({module: sorted(ours(module, by_name=False)) for module in MODULES})
    assert cycle is None, " -> ".join(cycle or [])


def test_context_is_pure() -> None:
    for module, path in MODULES.items():
        if room(module) == "outlive.context":
            used = {name.split(".")[0] for name in imports(ast.parse(path.read_text()), module)}
            assert not used & FORBIDDEN_IN_CONTEXT, f"{module} is to be pure"


def test_every_room_has_an_inhabitant() -> None:
    """No empty folders, no package that is nothing but its name."""
    for folder in (SOURCE / "outlive").rglob("*"):
        if folder.is_dir() and folder.name != "__pycache__":
            inside = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
            code = [path for path in inside if path.suffix != ".py" or ast.parse(path.read_text()).body[1:]]
            assert code, f"{folder} is empty"


def test_a_public_class_name_has_one_home() -> None:
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


LARGE = {"tools/builtin": 30, ".": 20}
"""Rooms that may hold more: one tool a file; the package itself."""


def test_no_room_is_crowded() -> None:
    for folder in {path.parent for path in MODULES.values()}:
        name = folder.relative_to(SOURCE / "outlive").as_posix()
        assert len(list(folder.glob("*.py"))) <= LARGE.get(name, 16), f"{name} holds too many files at one level"


UNITS = {"outlive.regular.MIB"}
"""Their name says all."""


def unexplained_numbers(text: str) -> Iterator[str]:
    """Numeric constants of a module without a reason.

    It is a comment on the same line, a docstring below, or a comment above the block of lines they are in.
    """
    lines, body = text.splitlines(), ast.parse(text).body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        leaves = [part for part in ast.walk(node.value) if not isinstance(part, (ast.operator, ast.unaryop))]
        numbers = [part for part in leaves if isinstance(part, ast.Constant) and type(part.value) in (int, float)]
        if not numbers or any(
            not isinstance(part, (ast.BinOp, ast.UnaryOp)) for part in leaves if part not in numbers
        ):
            continue
        above = node.lineno - 2
        while above >= 0 and re.match(r"[A-Za-z_]\w*(: \w+)? = ", lines[above]):
            above -= 1
        explained = (
            "#" in lines[node.lineno - 1]
            or (above >= 0 and lines[above].startswith("#"))
            or (isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant))
        )
        if not explained:
            yield lines[node.lineno - 1].split(" = ")[0].split(":")[0]


def test_every_numeric_constant_says_why() -> None:
    found = {f"{module}.{name}" for module, path in MODULES.items() for name in unexplained_numbers(path.read_text())}
    assert found <= UNITS, "say in a few words why this value, or what happens beyond it"


def test_the_rule_would_notice_a_number_without_a_reason() -> None:
    text = '# Pixels.\nA = 1.5\nB = 2\n\nC = 3  # as the API\nD = 4\n"""Seconds."""\nE = -5 * 2**20\nF: int = 6\n'
    assert list(unexplained_numbers(text)) == ["E", "F"]


LOOK = """
import json, sys
sys.dont_write_bytecode = True
before = set(sys.modules)
events = []
def hook(event, args):
    if event in ("open", "os.listdir", "os.scandir"):
        path = str(args[0])
        if event != "open" or not path.endswith((".py", ".pyc", ".so")):
            events.append([event, path])
    elif event.split(".")[0] in ("socket", "subprocess", "sqlite3", "shutil", "tempfile") or event in (
        "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.mkdir", "os.rename", "os.remove", "os.putenv"
    ):
        events.append([event, repr(args)[:200]])
sys.addaudithook(hook)
import importlib
importlib.import_module(sys.argv[1])
found = list(events)
print(json.dumps({"modules": sorted(set(sys.modules) - before), "events": found}))
"""


def fresh_import(name: str) -> tuple[list[str], list[list[str]]]:
    """What a new interpreter loads and does for one import."""
    run = subprocess.run(
        [sys.executable, "-I", "-c", LOOK, name],
        capture_output=True,
        text=True,
        check=True,
        env=worker_environment(),
    )
    assert run.stderr == ""
    seen = json.loads(run.stdout)
    return seen["modules"], seen["events"]


@pytest.mark.parametrize("name", ["outlive", "outlive.tasks", "outlive.stores", "outlive.testing", "outlive.errors"])
def test_importing_does_nothing_and_loads_nothing_heavy(name: str) -> None:
    loaded, events = fresh_import(name)
    assert name in loaded
    heavy = [module for module in loaded if module.split(".")[0] in HEAVY]
    assert heavy == []
    # The import system itself lists the folders on the path; nothing else may be touched.
    path_entries = {str(Path(entry).resolve()) for entry in sys.path} | {str(SOURCE)}
    done = [
        event
        for event in events
        if not (event[0] in ("os.listdir", "os.scandir") and Path(event[1]).resolve().is_relative_to(SOURCE))
        and not (event[0] in ("os.listdir", "os.scandir") and str(Path(event[1]).resolve()) in path_entries)
        and "lib/python" not in event[1]
    ]
    assert done == []


def test_importing_would_be_caught_at_doing_something(tmp_path: Path) -> None:
    """The look itself is able to see: a standard module that is known to read and to load."""
    loaded, _ = fresh_import("sqlite3")
    assert "sqlite3" in loaded
    (tmp_path / "nosy.py").write_text(
        "import pathlib\npathlib.Path('/etc/hostname').exists()\nopen('/etc/passwd').close()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", LOOK, "nosy"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**worker_environment(), "PYTHONPATH": str(tmp_path)},
    )
    assert ["open", "/etc/passwd"] in json.loads(run.stdout)["events"]


def test_the_public_names_can_all_be_loaded() -> None:
    import outlive

    assert sorted(outlive.__all__) == dir(outlive)
    for name in outlive.__all__:
        assert getattr(outlive, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        outlive.nonsense  # noqa: B018


def test_the_loop_stays_under_200_lines() -> None:
    assert len(MODULES["outlive.loop"].read_text().splitlines()) < 200


def test_only_the_worker_runs_git() -> None:
    """A repository's settings name programs that git starts: what we want to know of one is in its files. The worker
    switches them off."""
    for module, path in MODULES.items():
        if module == "outlive.work.repository.git":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and (given := [*node.args, *(word.value for word in node.keywords)]):
                first = given[0].elts[0] if isinstance(given[0], ast.List | ast.Tuple) and given[0].elts else given[0]
                called = ast.unparse(node.func)
                if re.search(r"subprocess|Popen|which|find_program|\bexec|spawn|system", called):
                    assert not (isinstance(first, ast.Constant) and "git" in str(first.value).split()), module
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple | ast.List) and node.value.elts:
                first = node.value.elts[0]
                is_git = isinstance(first, ast.Constant) and first.value == "git"
                assert not is_git or "subprocess" not in path.read_text(), f"{module} names a git command"
