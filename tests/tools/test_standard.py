"""The box of tools as a model sees it, and its page in the documents."""

import subprocess
import sys
from typing import Any

import pytest

from outlive.messages import ToolCall
from outlive.tools.builtin.standard import standard_tools
from outlive.tools.toolbox import Toolbox
from tests.engines import ROOT, worker_environment
from tests.tools.workbench import Workbench

PAGE = ROOT / "docs/tools.md"
BEGIN, END = "<!-- tools: begin -->", "<!-- tools: end -->"
NAMES = (
    *("bash", "bash_output", "read_file", "write_file", "edit_file", "glob", "grep"),
    *("task_create", "task_update", "task_list", "task_get", "task_claim", "task_complete"),
    *("update_plan", "add_directive", "compact", "recall", "keep", "subagent", "load_skill"),
    *("remember", "forget", "memory_search", "web_fetch"),
)
PARAMETERS = {
    "bash": "command timeout? background?",
    "bash_output": "handle kill?",
    "read_file": "path offset? limit?",
    "write_file": "path content",
    "edit_file": "path old_text new_text replace_all?",
    "glob": "pattern path?",
    "grep": "pattern path? glob? ignore_case? context? limit?",
    "task_create": "subject description? addBlockedBy? addBlocks? key?",
    "task_update": "task_id subject? description? status? addBlockedBy? addBlocks? removeBlockedBy?",
    "task_list": "all? budget?",
    "task_get": "task_id",
    "task_claim": "task_id?",
    "task_complete": "task_id result?",
    "update_plan": "steps? done? not_done? current_step? progress? blocked_on? goal? criteria? scratchpad?",
    "add_directive": "text pinned?",
    "compact": "focus?",
    "recall": "handle? query?",
    "keep": "refs? let_go?",
    "subagent": "prompt description tools?",
    "load_skill": "name",
    "remember": "text name? type? scope?",
    "forget": "memory",
    "memory_search": "query limit?",
    "web_fetch": "url",
}
SCHEMAS = {schema["name"]: schema for schema in Toolbox(standard_tools()).schemas()}


def parameters(schema: dict[str, Any]) -> list[str]:
    form = schema["input_schema"]
    return [name if name in form.get("required", ()) else f"{name}?" for name in form["properties"]]


def table() -> str:
    """The tools and their parameters, from the schemas that the model is sent."""
    effects = {tool.name: tool.effect for tool in standard_tools()}
    rows = ["| tool | parameters | can change | what it does |", "|---|---|---|---|"]
    for name, schema in SCHEMAS.items():
        listed = ", ".join(f"`{parameter}`" for parameter in parameters(schema))
        rows.append(f"| `{name}` | {listed} | {effects[name]} | {schema['description']} |")
    rows.append("")
    for name, schema in SCHEMAS.items():
        rows += ["", f"### `{name}`", ""]
        form = schema["input_schema"]
        for parameter, about in form["properties"].items():
            mark = "" if parameter in form.get("required", ()) else " (optional)"
            rows.append(f"- `{parameter}`{mark}: {about['description']}")
    return "\n".join(rows)


def test_the_tools_and_their_parameters_are_those_agreed_on_in_a_stable_order() -> None:
    assert tuple(SCHEMAS) == NAMES
    assert {name: " ".join(parameters(schema)) for name, schema in SCHEMAS.items()} == PARAMETERS


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_closed_described_and_whole(name: str) -> None:
    schema = SCHEMAS[name]
    form = schema["input_schema"]
    assert form["type"] == "object"
    assert "additionalProperties" not in form
    assert "$ref" not in str(form)
    assert 40 < len(schema["description"]) < 600
    for about in form["properties"].values():
        assert len(about["description"]) > 10


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("given", [{"nonsense": 1}, {"path": [], "command": {}}, {"__unreadable__": "{oops"}])
def test_no_bad_call_raises_or_fails_inside(bench: Workbench, name: str, given: dict[str, Any]) -> None:
    assert "it takes {" in bench.refused(name, **given)


def test_an_unknown_tool_is_answered_with_those_there_are(bench: Workbench) -> None:
    text = bench.refused("ReadFile", path="a")
    assert "read_file" in text


def test_only_tools_that_change_nothing_run_beside_others() -> None:
    side_by_side = [tool for tool in standard_tools() if tool.parallel]
    assert {tool.name for tool in side_by_side} == {
        *("read_file", "glob", "grep", "recall", "subagent", "memory_search")
    }
    assert all(tool.effect == "look" for tool in side_by_side)


def test_files_are_named_for_permissions() -> None:
    box = Toolbox(standard_tools())
    for name in ("read_file", "write_file", "edit_file"):
        given = {"path": "a.py", "content": "", "old_text": "a", "new_text": "b"}
        keys = [parameter.rstrip("?") for parameter in parameters(SCHEMAS[name])]
        tool, read = box.read(ToolCall("1", name, {key: given[key] for key in keys if key in given}))
        assert tool.subject(read) == "a.py"
        assert tool.paths(read) == ("a.py",)
    tool, read = box.read(ToolCall("1", "bash", {"command": "git status"}))
    assert tool.subject(read) == "git status"


def test_loading_the_tools_loads_nothing_slow() -> None:
    slow = ("rich", "anthropic", "openai", "httpx", "click", "sqlite3", "yaml", "numpy", "difflib")
    load = "import sys, outlive.tools.builtin.standard as s; s.standard_tools(); "
    code = f"{load}print([m for m in {slow} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=worker_environment()
    )
    assert run.stdout.strip() in ("[]", "['difflib']")  # difflib: the toolbox names near tools


def test_the_page_about_tools_is_up_to_date() -> None:
    written = PAGE.read_text().split(BEGIN)[1].split(END)[0].strip()
    assert written == table().strip(), "run: make docs"


def write_page() -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    write_page()
