"""Documents fail the tests when they lag. `python -m tests.test_docs` writes the reference of commands again."""

import ast
import inspect
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import click
import pytest

import outlive
from outlive.cli.app import cli
from outlive.context.policy import POLICIES, numbers
from outlive.testing import Simulator, call, say
from outlive.testing.simulator import SeenRequest, Step

ROOT = Path(__file__).parent.parent
SESSIONS = ROOT / "docs" / "sessions.md"
BEGIN, END = "<!-- policies: begin -->", "<!-- policies: end -->"
REFERENCE = ROOT / "docs" / "cli.md"
LIBRARY = ROOT / "docs" / "library.md"
NAMES_BEGIN, NAMES_END = "<!-- names: begin -->", "<!-- names: end -->"


def reference() -> str:
    """docs/cli.md as it should be."""
    parts = ["# Commands\n\nWritten by `make docs` from the commands themselves.\n"]
    parts += [f"## {path}\n\n```text\n{text}\n```\n" for path, text in _helps(cli, "outlive")]
    return "\n".join(parts)


def _helps(command: click.Command, path: str, parent: click.Context | None = None) -> list[tuple[str, str]]:
    with click.Context(
        command, info_name=path.split()[-1], parent=parent, terminal_width=100, help_option_names=["-h", "--help"]
    ) as context:
        found = [(path, context.get_help())]
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                found += _helps(inner, f"{path} {name}", context)
    return found


def policies() -> str:
    """The numbers of the policies, from the policies themselves."""
    names = list(POLICIES)
    rows = [f"| number | {' | '.join(names)} | may be | what it is |", "|---|" + "--:|" * len(names) + "---|---|"]
    for name, number in numbers().items():
        values = " | ".join(f"{getattr(POLICIES[policy], name):,.12g}" for policy in names)
        rows.append(f"| `{name}` | {values} | {number.range} | {number.about} |")
    return "\n".join(rows)


def public_names() -> str:
    """Every name of `outlive`: errors as a tree, the others with the first line of their docstring."""
    tree = (outlive.errors.__doc__ or "").partition("\nOutliveError\n")[2].rstrip()
    rows = ["| name | what it is |", "|---|---|"]
    for name in sorted({*outlive.__all__} - {"__version__"}, key=lambda name: (name.lower(), name)):
        found = getattr(outlive, name)
        if not (inspect.isclass(found) and issubclass(found, outlive.OutliveError)):
            rows.append(f"| `{name}` | {_about(name, found)} |")
    return "\n".join([*rows, "", "```text", "OutliveError", tree, "```"])


def _about(name: str, found: object) -> str:
    about = inspect.getdoc(found) if inspect.isclass(found) or inspect.isfunction(found) else _documented(name)
    return " ".join((about or "").partition("\n\n")[0].split()).replace("|", "\\|")


def _documented(name: str) -> str:
    """The docstring below an assignment."""
    body = ast.parse(Path(inspect.getfile(sys.modules[outlive._HOME[name]])).read_text()).body
    for node, below in pairwise(body):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name and isinstance(below, ast.Expr):
            return str(ast.literal_eval(below.value))
    return ""


def test_every_public_name_is_documented() -> None:
    written = LIBRARY.read_text().split(NAMES_BEGIN)[1].split(NAMES_END)[0].strip()
    assert written == public_names(), "run: make docs"
    assert not re.findall(r"\| `\w+` \|  \|", written), "a name without a docstring"
    for name in outlive.__all__:
        assert re.search(rf"\b{name}\b", written) or name == "__version__"


def test_every_number_of_a_policy_is_in_the_documents() -> None:
    written = SESSIONS.read_text().split(BEGIN)[1].split(END)[0].strip()
    assert written == policies(), "run: make docs"


def test_the_reference_of_commands_is_up_to_date() -> None:
    assert REFERENCE.read_text() == reference(), "run: make docs"


def snippets(*pages: Path) -> list[str]:
    return [text for page in pages for text in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]


def picnic(request: SeenRequest) -> Step:
    first = "weather" in request.tools and not request.results()
    return call("weather", city="Oslo") if first else say("Bring a hat.")


def test_the_python_in_the_documents_runs(tmp_path: Path) -> None:
    names = ("library", "sessions", "simulator", "memory", "agent")
    pages = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in names)]
    assert len(snippets(*pages)) >= len(pages)
    with Simulator(brain=picnic) as sim:
        environment = {**os.environ, **sim.env(), "OUTLIVE_HOME": str(tmp_path / "home")}
        for snippet in snippets(*pages):
            subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, check=True, env=environment)
        assert sim.refusals == []
        assert [result.text for request in sim.requests for result in request.last_results()] == ["sunny in Oslo"]


def test_the_python_in_the_library_page_is_typed(tmp_path: Path) -> None:
    for number, snippet in enumerate(snippets(ROOT / "docs" / "library.md")):
        (tmp_path / f"snippet_{number}.py").write_text(snippet)
    cache = str(ROOT / ".mypy_cache")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *sorted(os.listdir(tmp_path))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    "page",
    sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("bench/**/*.md")]),
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "page", [*sorted((ROOT / "docs").glob("*.md")), ROOT / "ARCHITECTURE.md"], ids=lambda p: p.name
)
def test_modules_that_documents_name_are_there(page: Path) -> None:
    named = re.findall(r"`(?:src/)?(?:outlive/)?((?:\w+/)+\w+\.py)`", page.read_text())
    ours = [name for name in named if (ROOT / "src/outlive" / name.partition("/")[0]).is_dir()]
    assert [name for name in ours if not (ROOT / "src/outlive" / name).exists()] == []


def test_every_dependency_has_its_reason() -> None:
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = [
        *project["project"]["dependencies"],
        *(
            requirement
            for extra, requirements in project["project"]["optional-dependencies"].items()
            for requirement in requirements
            if extra != "all"
        ),
        *project["dependency-groups"]["dev"],
    ]
    for requirement in listed:
        name = re.split(r"[\[<>=]", requirement)[0]
        assert name in reasons, name


def test_the_public_names_are_there() -> None:
    for name in outlive.__all__:
        assert getattr(outlive, name) is not None


if __name__ == "__main__":
    REFERENCE.write_text(reference())
    before, _, rest = SESSIONS.read_text().partition(BEGIN)
    SESSIONS.write_text(f"{before}{BEGIN}\n{policies()}\n{END}{rest.partition(END)[2]}")
    before, _, rest = LIBRARY.read_text().partition(NAMES_BEGIN)
    LIBRARY.write_text(f"{before}{NAMES_BEGIN}\n{public_names()}\n{NAMES_END}{rest.partition(NAMES_END)[2]}")
