"""Everything that reads text from outside, fed with text that was made to be hard to read.

Run as a program, it feeds each reader in a process of its own with a limit on processor time, and prints for each
the text that it failed on, or nothing. The limit is against hangs: far above what any of them takes, and far below
what a quadratic one would take.
"""

import asyncio
import io
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.sample import part

SIZE = 256 * 1024
SECONDS = 60
"""Of processor time for one reader and all texts. A quadratic one needs minutes for a single text."""
PIECES = (
    *(
        "a",
        " ",
        "\n",
        "   \n",
        "1",
        "{",
        '"',
        "'",
        "`",
        "\\",
        "(",
        "[",
        "<",
        "#",
        "\r\n",
        "a\r",
        "😀",
        "\x1b[31m",
        "\x1b]0;",
    ),
    *("<state>", "<tool_call>", "<task-notification>", "<harness>", "```\n", '{"a": ', "{'a': ", '{"name": "bash", '),
    *(
        "<state>\nPermission mode: ask\n",
        "<function=bash>",
        "FAILED a.py::x - y\n",
        "1 passed in 2s, ",
        "Summary [ a] ",
    ),
    *("Finished `a` profile\n", "Wall time: 1\n", "patching file a ", "a/b.py ", "**a", "[a](", "> ", "- a\n", "a: "),
    *(
        "&a [*a,",
        "http://a.b/",
        "on 12 May 2024 at 10:00, ",
        "remember that ",
        "always use a ",
        "never ",
        "I prefer x. ",
    ),
)
TEXTS = {piece: piece * (SIZE // len(piece)) for piece in PIECES}
Reader = Callable[[str], object]


def readers() -> dict[str, Reader]:
    """All of them, by name. A new parser or tool belongs here."""
    return {**_models(), **_context(), **_memory(), **_files(), **_terminal(), **_tools(), **_safety()}


def _models() -> dict[str, Reader]:
    from outlive.models.answers.text import CALL_OR_ECHO, AnswerText, without_echo
    from outlive.models.failures import nearest
    from outlive.models.repair import Brackets, read_arguments
    from outlive.models.written_calls.reading import calls_in
    from outlive.tools.builtin.standard import standard_tools
    from outlive.tools.toolbox import Toolbox

    schemas = {tool["name"]: tool["input_schema"] for tool in Toolbox(standard_tools()).schemas()}

    def arriving(text: str) -> None:
        answer, brackets = AnswerText(CALL_OR_ECHO), Brackets()
        for at in range(0, len(text), 8):
            answer.take(text[at : at + 8])
            brackets.take(text[at : at + 8])
        answer.rest(answer.kept(""))

    return {
        "calls in text": lambda text: calls_in(text, schemas, [text]),
        "arguments": read_arguments,
        "arguments, in a string": lambda text: read_arguments('{"a": "' + text),
        "arguments, in an object": lambda text: read_arguments('{"a": ' + text),
        "echo": lambda text: without_echo(text, "<state>\nPermission mode: ask\n</state>"),
        "answer as it arrives": arriving,
        "names of models": lambda text: nearest(text, [text, text[1:]]),
    }


def _context() -> dict[str, Reader]:
    from outlive.agent import Session
    from outlive.context.summary import checked
    from outlive.messages import Text, ToolCall
    from outlive.models.too_long import read_too_long
    from outlive.stores import open_stores

    def session() -> Session:
        folder = tempfile.mkdtemp()
        return Session.start(open_stores(f"files:{folder}/.tasks", durability="process").logs, folder=folder)

    def said(text: str) -> None:
        with session() as one:
            one.user_said(text)
            one.assistant_said((Text(text),))
            one.user_said("Go on.")
            one.next_request()
            one.compact()

    def printed(command: str, text: str) -> None:
        with session() as one:
            one.user_said("Go.")
            one.assistant_said((ToolCall("c", "bash", {"command": command}),))
            one.tool_finished("c", text, is_error=True, exit_code=1)
            one.next_request()
            one.compact()

    def edited(text: str) -> None:
        with session() as one:
            one.user_said("Go.")
            one.assistant_said((ToolCall("c", "edit_file", {"path": "a.py", "old_text": text, "new_text": text}),))
            one.tool_finished("c", "ok")
            one.compact()

    return {
        "words": said,
        **{
            f"output of {command}": partial(printed, command)
            for command in ("pytest", "make test", "cargo build", "cat a")
        },
        "an edit": edited,
        "a summary": lambda text: checked(text, [text], limit=8_000, pages=3),
        "a refusal of a server": lambda text: read_too_long(text, 400),
    }


def _memory() -> dict[str, Reader]:
    from outlive.events import UserSaid
    from outlive.instructions import instructs, standing
    from outlive.memory.learning import candidate, extract
    from outlive.memory.learning.utterances import is_quote, quoted_sentences
    from outlive.memory.refs import corrects, normalized, unknown
    from outlive.messages import Text
    from outlive.sentences import outside_tags
    from outlive.stores.memories.records import Provenance
    from outlive.stores.memories.text import parse as parse_memory

    def said(text: str) -> list[Any]:
        return [UserSaid(id=1, time=0.0, parent=0, blocks=(Text(text),))]

    front = "---\nname: a\ndescription: b\ntype: user\n---\n"
    return {
        "what to remember": lambda text: extract.candidates(said(text)),
        "what was not heard": lambda text: extract.unheard(said(text)),
        "an extraction": lambda text: extract.read_extraction(text, [], []),
        "a memory that was asked for": lambda text: candidate.asked_for(text, Provenance()).memory(),
        "two memories": lambda text: (normalized(text), corrects(f"{text}, not x", text)),
        "a quotation": lambda text: (is_quote(text, f"{text} x"), quoted_sentences(text[:3_000], text[:6_000])),
        "pasted blocks": outside_tags,
        "instructions in a message": standing,
        "instructions in a memory": instructs,
        "frontmatter": lambda text: parse_memory(f"---\n{text}\n---\n".encode(), slug="a", where="a"),
        "the body of a memory": lambda text: parse_memory((front + text).encode(), slug="a", where="a"),
        "a memory by name": lambda text: unknown(text, [text[:200]]),
    }


def _files() -> dict[str, Reader]:
    from outlive.config import Workspace
    from outlive.config.dotenv import DotEnv
    from outlive.replay.importers import read_recording
    from outlive.tools.instructions import Instructions
    from outlive.tools.skills import Skills

    def file(name: str, text: str) -> Path:
        path = Path(tempfile.mkdtemp()) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def recording(*lines: Any) -> object:
        return read_recording(file("x.jsonl", "\n".join(json.dumps(line) for line in lines)))

    def codex(text: str) -> object:
        words = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        call = {"type": "function_call", "name": "x", "call_id": "c", "arguments": text}
        output = {"type": "function_call_output", "call_id": "c", "output": text}
        items = [{"type": "response_item", "payload": item} for item in (words, call, output)]
        return recording({"type": "session_meta", "payload": {"id": "a"}}, *items)

    def claude(text: str) -> object:
        message = {"role": "user", "content": text}
        return recording({"type": "user", "uuid": "1", "sessionId": "s", "message": message})

    return {
        "a recording": lambda text: read_recording(file("x.jsonl", text)),
        "a recording of Claude Code": claude,
        "a recording of Codex": codex,
        "settings": lambda text: Workspace.find(file("outlive.toml", text).parent),
        ".env": lambda text: DotEnv(Workspace.find(file(".env", text).parent)).environment(),
        "instructions": lambda text: Instructions(file("AGENTS.md", text).parent),
        "a skill": lambda text: Skills(file(".outlive/skills/a/SKILL.md", f"---\n{text}\n---\n").parents[3]),
    }


def _terminal() -> dict[str, Reader]:
    from rich.console import Console

    from outlive.cli.chat.render.diffs import is_diff, painted
    from outlive.cli.chat.render.markdown import Prose
    from outlive.messages import ToolCall
    from outlive.printable import clean, clean_output, clean_styled, one_line
    from outlive.tools.files.call_diff import call_diff

    return {
        "control characters": lambda text: (clean(text), clean_output(text), clean_styled(text), one_line(text)),
        "Markdown": lambda text: Console(file=io.StringIO(), width=80).print(Prose(text)),
        "an edit as it is shown": lambda text: call_diff(
            ToolCall("a", "x", {"old_text": text, "new_text": text[::-1]})
        ),
        "a diff as it is shown": lambda text: (is_diff(text), list(painted(text.splitlines()))),
    }


def _tools() -> dict[str, Reader]:
    """Each field of each tool that takes text, or a list of texts; bash and sub-agents would run it."""
    from outlive.tools.builtin.standard import standard_tools
    from outlive.tools.files.closest_match import why_not_found
    from outlive.tools.files.diff import unified
    from outlive.tools.schema import schema

    found: dict[str, Reader] = {
        "text that is not found": lambda text: why_not_found(text, text[:1_000] + "z" + text[1_000:], "q" * 20),
        "a line that is not found": lambda text: why_not_found(text, "z" + text[-200:], "q" * 20),
        "a diff": lambda text: unified(text, text[::-1], "a"),
        "a diff of short lines": lambda text: unified("\n".join(text[:9_000]), "\n".join(text[1:18_000:2]), "a"),
    }
    for tool in standard_tools():
        if tool.name not in ("bash", "subagent", "remember", "forget", "memory_search"):
            forms = schema(tool.input)["properties"].items()
            fields = {name: "array" in json.dumps(form) for name, form in forms if "string" in json.dumps(form)}
            found[f"tool {tool.name}"] = partial(_call, tool.name, fields, schema(tool.input).get("required", []))
    return found


def _call(tool: str, fields: dict[str, bool], required: list[str], text: str) -> None:
    from outlive.messages import ToolCall
    from tests.tools.workbench import Workbench

    folder = Path(tempfile.mkdtemp())
    bench = Workbench(folder)
    (folder / "a.txt").write_text(text, encoding="utf-8", newline="")
    asyncio.run(bench.runner.run(ToolCall("r", "read_file", {"path": "a.txt"})))
    short = {name: "a.txt" if name == "path" else 1 if name == "task_id" else "x" for name in required}
    for field, kind in fields.items():
        for given in ([text], [text[:100]] * 200) if kind else (text,):
            asyncio.run(bench.runner.run(ToolCall("c", tool, {**short, field: given})))


def _safety() -> dict[str, Reader]:
    from outlive.secrets import MaskedStream, mask, mask_value
    from outlive.secrets.scanning import Scan
    from outlive.shell import lenient, strict
    from outlive.tools.permissions.path_rules import matches
    from outlive.tools.permissions.rules import Rules

    rules = Rules(["bash(git log ...)", "read_file(src/**)"], ["bash(rm*)", "write_file(**/a/**/b*)"])

    def streamed(text: str) -> None:
        stream = MaskedStream(Scan())
        for at in range(0, len(text), 64):
            stream.feed(text[at : at + 64])
        stream.finish()

    return {
        "secrets": mask,
        "secrets in a call": lambda text: mask_value({"a": text, text: [text]}),
        "secrets as they arrive": streamed,
        "a command line": strict.commands,
        "a command line that ran": lenient.programs,
        "what is denied": lambda text: rules.denied("bash", text, ()),
        "what is allowed": lambda text: rules.allowed("bash", text, ()),
        "what would always be allowed": lambda text: rules.always("bash", text, ()),
        "a pattern of a rule": lambda text: matches("**/a*/**/b?", text),
    }


def attempt(read: Reader) -> str:
    """What went wrong when a reader was fed with all texts, in a process with a limit; nothing when all is well."""
    from outlive.errors import OutliveError

    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
        for piece, text in part(TEXTS.items()):
            os.write(sending, f"\n{piece!r}".encode())
            try:
                read(text)
            except OutliveError:
                pass
            except BaseException as error:  # noqa: BLE001 - it is told, with the text
                os.write(sending, f": {type(error).__name__}: {str(error)[:200]}".encode())
                os._exit(1)
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, errors="replace") as pipe:
        last = pipe.read().rpartition("\n")[2]
    _, status = os.waitpid(child, 0)
    return last if status else ""


def main() -> int:
    chosen = {name: read for name, read in readers().items() if not sys.argv[1:] or name in sys.argv[1:]}
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        for name, read in chosen.items():
            print(json.dumps([name, attempt(read)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
