"""What harnesses write around a command's output: its exit code, and its state in the background.

Only their exact forms count, at the start or end of a result: the output itself may say anything.
"""

import re
from dataclasses import dataclass

from outlive.messages import ToolCall

HEAD, TAIL = 600, 400
"""Characters at the start and the end of a result that may be a frame."""
FRAME_LINE = re.compile(
    r"\s*(?:$|Exit code\b|Chunk ID:|Wall time\b|Process (?:exited|running)\b|Original token count:|Output:|"
    r"Script \w+$)"
)
"""Lines that a harness writes around the output; they never describe an error, nor what was printed."""
_FIRST_LINES = (
    re.compile(r"Exit code: (-?\d+)\nWall time: "),
    re.compile(r"(?:Chunk ID: .*\n)?Wall time: .*\n(?:Process )?[Ee]xited with code (-?\d+)\n"),
    re.compile(r"<returncode>(-?\d+)</returncode>"),
)
_FIRST_OF_ERROR = re.compile(r"Exit code (-?\d+)(?:\n|\Z)")
_LAST_LINES = (
    re.compile(
        r"^\[(?:The command completed|Command finished) with exit code (-?\d+)\.?\]"
        r"(?:\n\[(?:Current working directory|Python interpreter|Command finished)[^\n]*\])*\s*\Z",
        re.MULTILINE,
    ),
    re.compile(
        r"^(?:Command `.*` executed|Command finished) with exit code (-?\d+)\.?\s*\Z", re.MULTILINE | re.DOTALL
    ),
    re.compile(r"^\[exit code (-?\d+)(?: \(\w+\))?\]\s*\Z", re.MULTILINE),
)
_STARTED = (
    re.compile(r"Runs in the background as (?P<handle>\w+), process (?P<name>\d+)\."),
    re.compile(r"(?:Chunk ID: .*\n)?Wall time: .*\nProcess running with session ID (?P<name>[\w-]+)\n"),
    re.compile(r"(?:Command )?(?:is )?running in (?:the )?background with ID:? (?P<name>[\w-]+)", re.IGNORECASE),
    re.compile(r"Command .{0,80}(?:moved to the background|backgrounded by user)\W+(?:with )?ID: (?P<name>[\w-]+)"),
    re.compile(r"(?:Process )?(?:running with )?session ID (?P<name>[\w-]+)\s*\Z", re.IGNORECASE),
)
_LEFT_BEHIND = re.compile(
    r"^\[what it started still runs, as (?P<handle>\w+), process group (?P<name>\d+);", re.MULTILINE
)
_STATUS = re.compile(r"<status>(?:completed|failed|killed|stopped)</status>")
_OUR_STATUS = re.compile(
    r"^\[\w+: (?:finished|timed out|ended on your word)(?:, exit code (-?\d+))?[^;\n]*\]\s*\Z", re.MULTILINE
)
_EXIT_TAG = re.compile(r"<exit_code>(-?\d+)</exit_code>")
_UNKNOWN = re.compile(
    r"(?:write_stdin failed: )?Unknown (?:process|session)(?: id)?|No (?:shell|task|background)\b.*\bfound",
    re.IGNORECASE,
)
_NOTICE_ID = re.compile(r"<task-id>([\w-]+)</task-id>")
_OLD_NOTICE = re.compile(
    r"Background Bash ([\w-]+) \(command: .{0,4000}?\) \(status: (?:completed|failed|killed)\)", re.DOTALL
)
_LOOKING = frozenset({"bash_output", "bashoutput", "taskoutput", "write_stdin", "agentoutputtool", "read_background"})
_ENDING = frozenset({"killshell", "killbash", "kill_shell", "taskstop", "kill_background"})
_ID_KEYS = ("bash_id", "shell_id", "task_id", "session_id", "handle", "id")


@dataclass(frozen=True, slots=True)
class BackgroundStart:
    """A command in the background: its name (its process if known) and its handle in the harness."""

    name: str
    handle: str = ""


@dataclass(frozen=True, slots=True)
class BackgroundCheck:
    """A call that looked at a background command or ended it."""

    name: str
    over: bool
    exit_code: int | None = None


def framed_exit(text: str, *, is_error: bool) -> int | None:
    """The exit code that a harness wrote before or after the output."""
    for form in _FIRST_LINES:
        if found := form.match(text[:HEAD]):
            return int(found[1])
    if is_error and (found := _FIRST_OF_ERROR.match(text[:HEAD])):
        return int(found[1])
    end = text[-TAIL:] if not text.startswith("Command `") else text[-2 * HEAD :]
    for form in _LAST_LINES:
        if found := form.search(end):
            return int(found[1])
    return None


def started(text: str) -> BackgroundStart | None:
    """The background command that a harness reports to have started."""
    head = text[:HEAD]
    found = next((match for form in _STARTED if (match := form.match(head))), None)
    found = found or _LEFT_BEHIND.search(text[-TAIL:])
    if found is None:
        return None
    return BackgroundStart(found["name"], found.groupdict().get("handle") or "")


def look(call: ToolCall, text: str, *, is_error: bool, exit_code: int | None) -> BackgroundCheck | None:
    """What a call says about a background command; None for any other call."""
    tool = call.name.lower().rpartition("__")[2]
    name = next((str(v) for k in _ID_KEYS if isinstance(v := call.input.get(k), (str, int))), "")
    if not name or (tool not in _LOOKING and tool not in _ENDING):
        return None
    if tool in _ENDING:
        return BackgroundCheck(name, over=not is_error or _UNKNOWN.search(text[:HEAD]) is not None)
    code = exit_code if exit_code is not None else framed_exit(text, is_error=is_error)
    head = text[:HEAD]
    if tag := _EXIT_TAG.search(head):
        code = int(tag[1])
    ours = _OUR_STATUS.search(text[-TAIL:])
    over = code is not None or ours is not None or _STATUS.search(head) is not None
    return BackgroundCheck(name.strip(), over or (is_error and _UNKNOWN.search(head) is not None), code)


def notices(text: str) -> list[str]:
    """Names of background commands that a harness reports, in a user message, to have ended."""
    if "<task-notification>" not in text and "Background Bash" not in text:
        return []
    begun = text.split("<task-notification>")[1:]
    bodies = [body for part in begun for body, end, _ in [part.partition("</task-notification>")] if end]
    over = [found[1] for body in bodies if _STATUS.search(body) and (found := _NOTICE_ID.search(body))]
    return [*over, *(found[1] for found in _OLD_NOTICE.finditer(text))]
