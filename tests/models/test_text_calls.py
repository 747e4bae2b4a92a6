"""Calls that came as text: taken when there is one way to read them, otherwise said to be near."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.models.written_calls.reading import FoundCalls, Written, calls_in
from outlive.tools.builtin.standard import standard_tools
from outlive.tools.toolbox import Toolbox

TOOLS = {tool["name"]: tool["input_schema"] for tool in Toolbox(standard_tools()).schemas()}
LS = '{"name": "bash", "arguments": {"command": "ls"}}'
READ = '{"name": "read_file", "arguments": {"path": "a.txt", "limit": 5}}'
CALL = Written("bash", {"command": "ls"})
STATE = "<state>\nPermission mode: ask\nGoal: fix it\n</state>"
QWEN_CODER = "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>"
GLM = "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>"
DEEPSEEK = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n"
    '{"command": "ls"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
DEEPSEEK_31 = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>bash<｜tool▁sep｜>"
    '{"command": "ls"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>"
    '{"command": "ls"}<|tool_call_end|><|tool_calls_section_end|>'
)

FORMS = {
    "json": LS,
    "tags": f"<tool_call>\n{LS}\n</tool_call>",
    "tag that is not closed": f"<tool_call>\n{LS}",
    "fence": f"```json\n{LS}\n```",
    "fence without a language": f"```\n{LS}\n```",
    "parameters": '{"name": "bash", "parameters": {"command": "ls"}}',
    "arguments as text": '{"type": "function", "name": "bash", "arguments": "{\\"command\\": \\"ls\\"}"}',
    "function inside": f'{{"type": "function", "id": "call_1", "function": {LS}}}',
    "list of calls": f'{{"tool_calls": [{LS}]}}',
    "array": f"[{LS}]",
    "outer braces doubled": "{" + LS + "}",
    "all braces doubled": LS.replace("{", "{{").replace("}", "}}"),
    "python": "{'name': 'bash', 'arguments': {'command': 'ls'}}",
    "last bracket missing": LS[:-1],
    "last bracket missing in tags": f"<tool_call>{LS[:-1]}</tool_call>",
    "comma too many": '{"name": "bash", "arguments": {"command": "ls",},}',
    "mistral": f"[TOOL_CALLS][{LS}]",
    "mistral, newer": '[TOOL_CALLS]bash[ARGS]{"command": "ls"}',
    "llama": '<|python_tag|>{"name": "bash", "parameters": {"command": "ls"}}',
    "llama, custom": '<function=bash>{"command": "ls"}</function>',
    "qwen coder": QWEN_CODER,
    "glm": GLM,
    "deepseek": DEEPSEEK,
    "deepseek 3.1": DEEPSEEK_31,
    "kimi": KIMI,
    "tools in tags": f"<tools>\n{LS}\n</tools>",
    "function in tags": f"<function_call>{LS}</function_call>",
    "tag with a name": '<tool_call name="bash">{"command": "ls"}</tool_call>',
    "fence named for calls": f"```tool_call\n{LS}\n```",
    "granite": f"<|tool_call|>[{LS}]<|/tool_call|>",
    "nemotron": f"<TOOLCALL>[{LS}]</TOOLCALL>",
    "functools": f"functools[{LS}]",
    "internlm": '<|action_start|><|plugin|>\n{"name": "bash", "parameters": {"command": "ls"}}<|action_end|>',
    "command r": 'Action: ```json\n[{"tool_name": "bash", "parameters": {"command": "ls"}}]\n```',
    "command r 7": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "bash", "parameters": {"command": "ls"}}]'
    "<|END_ACTION|>",
    "apertus": '<|tools_prefix|>[{"bash": {"command": "ls"}}]<|tools_suffix|>',
    "seed": "<seed:tool_call><function=bash><parameter=command>ls</parameter></function></seed:tool_call>",
    "invoke": '<function_calls>\n<invoke name="bash">\n<parameter name="command">ls</parameter>\n</invoke>\n'
    "</function_calls>",
    "deepseek 3.2": '<｜DSML｜function_calls><｜DSML｜invoke name="bash">'
    '<｜DSML｜parameter name="command" string="true">'
    "ls</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    "harmony": '<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command": "ls"}<|call|>',
    "lfm": '<|tool_call_start|>[bash(command="ls")]<|tool_call_end|>',
    "olmo": '<function_calls>\nbash(command="ls")\n</function_calls>',
    "tags of the tool": "<bash>\n<command>ls</command>\n</bash>",
    "parameter that is not closed": "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</function>"
    "\n</tool_call>",
    "tool and input": '{"tool": "bash", "tool_input": {"command": "ls"}}',
    "function as text": '{"function": "bash", "args": {"command": "ls"}}',
    "thought and action": '{"thought": "I look.", "action": "bash", "action_input": {"command": "ls"}}',
    "prefix": '{"name": "functions.bash", "arguments": {"command": "ls"}}',
}
AROUND = {
    "alone": "{}",
    "sentence before": "I will look at the files.\n\n{}",
    "sentence on the same line": "Let me look: {}",
    "sentence after": "{}\n\nThat lists the files.",
    "state block": STATE + "\n\n{}",
    "thought": "<think>I could use {{'a', 'b'}} here.</think>\n{}",
    "code before": "The set is {{'a', 'e'}} and the body is `{{ return 1; }}`.\n{}",
}


LINES = {
    "functionary": '>>>bash\n{"command": "ls"}',
    "react": 'Action: bash\nAction Input: {"command": "ls"}',
    "react in bold": '**Action:** bash\n**Action Input:**\n```json\n{"command": "ls"}\n```',
    "python in brackets": '[bash(command="ls")]',
    "python": 'bash(command="ls")',
    "gemma": '```tool_code\nprint(bash(command="ls"))\n```',
    "name and json": 'bash\n{"command": "ls"}',
}
"""Forms that count only alone on their lines."""
UNCLEAR = ("last bracket missing", "sentence after")
"""What breaks off and is followed by words has no clear end."""


@pytest.mark.parametrize(("form", "around"), [both for both in product(FORMS, AROUND) if both != UNCLEAR])
def test_a_call_written_as_text_is_taken_whatever_is_around_it(form: str, around: str) -> None:
    found = calls_in(AROUND[around].format(FORMS[form]), TOOLS)
    assert found.near is None
    assert found.calls == (CALL,)


@pytest.mark.parametrize("form", LINES.values(), ids=LINES)
@pytest.mark.parametrize("around", [name for name in AROUND if name != "sentence on the same line"])
def test_a_call_without_a_marker_is_taken_on_lines_of_its_own(form: str, around: str) -> None:
    found = calls_in(AROUND[around].format(form), TOOLS)
    assert (found.calls, found.near) == ((CALL,), None)


def test_values_of_python_are_read_as_python_writes_them() -> None:
    text = "read_file(path='it\\'s, (a) \"b\".txt', limit=5, pages=None)"
    found = calls_in(text, {"read_file": {"properties": {"path": {}, "limit": {}, "pages": {}}}})
    assert found.calls == (Written("read_file", {"path": 'it\'s, (a) "b".txt', "limit": 5, "pages": None}),)


def test_the_words_before_a_call_are_kept_and_nothing_of_the_call() -> None:
    for name, form in FORMS.items():
        found = calls_in(f"I look.\n\n{form}\n\nIt says: a.txt", TOOLS)
        assert found.before == ("" if name in UNCLEAR else "I look."), form


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{LS}</tool_call>\n<tool_call>{READ}</tool_call>",
        f"First <tool_call>{LS}</tool_call> and then <tool_call>{READ}</tool_call>",
        f"{LS}\n{READ}",
        f"[{LS}, {READ}]",
        f"```json\n{LS}\n{READ}\n```",
        f"```json\n{LS}\n```\n```json\n{READ}\n```",
        f'{{"tool_calls": [{LS}, {READ}]}}',
        f"[TOOL_CALLS][{LS}, {READ}]",
        QWEN_CODER + "<tool_call><function=read_file><parameter=path>a.txt</parameter><parameter=limit>5</parameter>"
        "</function></tool_call>",
    ],
)
def test_several_calls_may_follow_each_other(text: str) -> None:
    assert calls_in(text, TOOLS).calls == (CALL, Written("read_file", {"path": "a.txt", "limit": 5}))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('<tool_call>{"name": "rm", "arguments": {}}</tool_call>', "no tool 'rm'"),
        (f'{LS}\n{{"name": "rm", "arguments": {{}}}}', "no tool 'rm'"),
        ('{"name": "bash", "arguments": {"cmd": "ls"}}', "lacks command"),
        ('{"name": "bash", "arguments": {"command": "ls", "sudo": true}}', "no argument 'sudo'"),
        ('{"name": "bash", "arguments": {"command": ["ls"]}}', "wrong type"),
        ('{"name": "bash", "arguments": "ls -la"}', "not a JSON object"),
        ('{"name": "bash", "arguments": {"command": "ls', "not valid"),
        ('<tool_call>{"name": "bash", "arguments": {"command": "a" "b"}}</tool_call>', "not valid"),
        ("<tool_call>bash ls -la</tool_call>", "cannot be read"),
        ("<function=bash><parameter=command>ls", "cannot be read"),
        ("<function=bash><parameter=command>ls\n<parameter=limit>5</parameter></function>", "cannot be read"),
        ("Action: bash\nAction Input: ls -la", "cannot be read"),
        ("<tool_call>bash('ls')</tool_call>", "cannot be read"),
        ("{“name”: “bash”, “arguments”: {“command”: “ls”}}", "not valid"),
        ('{"tool": "bash", "input": "ls"}', "not a JSON object"),
        (f"Either {LS} or {READ}", "text between"),
        (f"<tool_call>{LS}</tool_call><tool_response>a.txt</tool_response><tool_call>{READ}</tool_call>", "between"),
    ],
)
def test_a_call_that_cannot_be_run_is_named_with_the_reason(text: str, reason: str) -> None:
    found = calls_in(text, TOOLS)
    assert found.calls == ()
    assert found.near
    assert reason in found.near.reason
    assert not found.near.may_be_prose


@pytest.mark.parametrize(
    "text",
    [
        f"You could write `{LS}` to list them.",
        f'The file says "{LS}".',
        f"> {LS}\n\nThat line looks wrong.",
        f"```python\npayload = {LS}\n```",
        f"```python\n{LS}\nsend(payload)\n```",
        f"Wrap it: `<tool_call>{LS}</tool_call>`.",
        "Hermes models wrap calls in <tool_call> tags.",
        '```python\nbash(command="ls")\n```',
        '{"bash": {"command": "ls"}}',
    ],
)
def test_a_text_about_a_call_is_not_a_call(text: str) -> None:
    found = calls_in(text, TOOLS)
    assert found.calls == ()
    assert found.near
    assert found.near.may_be_prose


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would run ls.",
        "```json\n{}\n```",
        "The vowels are ```\n{'a', 'e'}\n``` as a set.",
        "{'a', 'e'}",
        '{"name": "bash"}',
        '{"name": "bash", "version": "1.0"}',
        '{"name": ["bash"], "arguments": {}}',
        '{"name": "bash", "arguments": 3}',
        f'{{"example": {LS}}}',
        f"<think>{LS}</think>Done.",
        "function f() { return {a: 1}; }",
        'I ran bash(command="ls") and bash("pwd").',
        "bash(command)",
        '{"tool": "hammer", "input": {"nail": 1}}',
        '{"action": "click", "input": "button"}',
        "Action: none",
    ],
)
def test_other_texts_are_neither(text: str) -> None:
    assert calls_in(text, TOOLS) == FoundCalls()


@pytest.mark.parametrize(
    "file",
    [
        LS,
        f"Notes.\n<tool_call>{LS}</tool_call>\nEnd.",
        json.dumps({"text": LS}),
        LS.replace(": ", ":"),
        "{'name': 'bash', 'arguments': {'command': 'ls'}}",
    ],
)
def test_a_call_that_occurs_in_what_was_read_is_not_run(file: str) -> None:
    for text in (LS, f"The file says:\n{LS}", f"```json\n{LS}\n```"):
        found = calls_in(text, TOOLS, ["other", file])
        assert found.calls == ()
        assert found.near
        assert "copied" in found.near.reason
    assert calls_in(LS, TOOLS, ["bash", "ls", "arguments"]).calls == (CALL,)


def test_nothing_is_a_call_without_tools() -> None:
    assert calls_in(LS, {}) == FoundCalls()


MARKS = (
    "{",
    "}",
    "{{",
    "[",
    "]",
    "<tool_call>",
    "</tool_call>",
    "```",
    "```json\n",
    '"',
    "'",
    "\\",
    "<function=",
    "bash",
)
MORE = ("<parameter=", "name", ":", ",", "[TOOL_CALLS]", "<think>", "</think>", "\n", "{'a', 'e'}")
PIECES = st.sampled_from([*FORMS.values(), *LINES.values(), *MARKS, *MORE])


@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join))
def test_any_text_has_an_answer_and_calls_fit_their_schemas(text: str) -> None:
    found = calls_in(text, TOOLS, [text[:10]])
    assert not (found.calls and found.near)
    for call in found.calls:
        assert set(TOOLS[call.name]["required"]) <= call.input.keys() <= TOOLS[call.name]["properties"].keys()
