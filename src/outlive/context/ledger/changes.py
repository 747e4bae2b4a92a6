"""Which files a call changed, according to its input, a patch, or the programs of its command line."""

import re
from collections.abc import Iterator, Sequence

from outlive.context.ledger.shell import CommandLine, joined_path, texts_of
from outlive.messages import ToolCall, call_file, is_writing

_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_PATCHING = re.compile(r"^patching file '?(.+?)'?(?: \(.*\))?$", re.MULTILINE)
_DIFFED = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE)
_SCRATCH = ("/dev/", "/tmp/", "/private/tmp/", "/var/folders/", "/proc/")  # noqa: S108 - scratch files are not work
_NO_NAME = re.compile(r"[$`*?<>|{}\n]|^-|^&?\d*$|^\.{1,2}/?$")
_VALUES = {"cp": {"-t", "-S"}, "mv": {"-t", "-S"}, "touch": {"-t", "-d", "-r"}, "tee": set(), "rm": set()}


def tool_changes(call: ToolCall) -> list[str]:
    """Files that an editing tool was told to change."""
    texts = texts_of(call.input)
    if call.name == "exec":  # a script that holds the patch as a string
        texts = [text.replace("\\n", "\n") for text in texts]
    patched = [path.strip() for text in texts if "*** " in text for path in _PATCHED.findall(text)]
    name = call_file(call)
    if patched or call.input.get("command") == "view" or not name or not is_writing(call):
        return patched
    moved = call.input.get("destination") or call.input.get("new_path")
    return [name, *([moved] if isinstance(moved, str) else [])]


def shell_changes(line: CommandLine, text: str, *, failed: bool) -> list[str]:
    """Files that the programs of a line changed. In a line that failed, the last program changed nothing."""
    found: list[str] = []
    for at, simple in enumerate(line.programs):
        paths = list(simple.outputs)
        if not (failed and at == len(line.programs) - 1):
            paths += _changed(simple.program, simple.words[1:], text)
        found += [joined_path(simple.folder, path) for path in paths if not _NO_NAME.search(path)]
    return [path for path in dict.fromkeys(found) if is_work(path)]


def is_work(path: str) -> bool:
    """Whether a path is not a scratch file."""
    return not path.startswith((*_SCRATCH, "-")) and bool(path.strip())


def _changed(program: str, rest: list[str], text: str) -> Sequence[str]:
    if program in ("sudo", "command", "env") and rest:
        return _changed(rest[0].rpartition("/")[2], rest[1:], text)
    if program == "git" and rest:
        return list(_by_git(rest))
    if program in ("sed", "gsed", "perl"):
        return _in_place(program, rest)
    if program in ("tee", "rm", "touch", "unlink"):
        return list(_plain(rest, program))
    if program in ("cp", "mv"):
        return _moved(program, rest)
    if program == "patch":
        return _PATCHING.findall(text)
    return []


def _plain(rest: list[str], program: str) -> Iterator[str]:
    """The operands: words that are neither options nor values of options."""
    values = _VALUES.get(program, set())
    skip = False
    for word in rest:
        if skip or word.startswith("-"):
            skip = not skip and word in values
        else:
            yield word


def _moved(program: str, rest: list[str]) -> list[str]:
    paths = list(_plain(rest, program))
    if len(paths) < 2:
        return []
    *sources, target = paths
    into = target.endswith("/") or len(sources) > 1 or target in (".", "..")
    made = [joined_path(target, source.rstrip("/").rpartition("/")[2]) for source in sources] if into else [target]
    return [*(sources if program == "mv" else []), *made]


def _in_place(program: str, rest: list[str]) -> list[str]:
    flags = [word for word in rest if word.startswith("-")]
    short = [word for word in flags if re.match(r"-[a-zA-Z]*i", word) and not word.startswith("--")]
    if not short and not any(word.startswith("--in-place") for word in flags):
        return []
    words: list[str] = []
    scripted = skip = False
    for at, word in enumerate(rest):
        if skip:
            skip = False
        elif word in ("-e", "-f", "--expression", "--file") or (program == "perl" and re.fullmatch(r"-\w*e", word)):
            scripted = skip = True
        elif word.startswith("-"):
            scripted = scripted or word.startswith("--expression=")
        elif not (word == "" and at and rest[at - 1] == "-i"):
            words.append(word)
    return words if scripted else words[1:]


def _by_git(rest: list[str]) -> Iterator[str]:
    folder = ""
    while len(rest) > 1 and rest[0] in ("-C", "-c"):
        folder = rest[1] if rest[0] == "-C" else folder
        rest = rest[2:]
    verb, rest = rest[0], rest[1:]
    paths = list(_plain(rest, "git"))
    if verb == "mv":
        paths = _moved("mv", rest)
    elif verb == "checkout":
        paths = rest[rest.index("--") + 1 :] if "--" in rest else []
    elif verb == "restore":
        staged = {"--staged", "-S"} & set(rest) and not {"--worktree", "-W"} & set(rest)
        paths = [] if staged else list(dict.fromkeys(paths))
    elif verb != "rm" or "--cached" in rest:
        paths = []
    yield from (joined_path(folder, path) for path in paths)


def heredoc_patch(command: str) -> list[str]:
    """Files of a patch inside the command itself (`git apply <<EOF`)."""
    if "<<" not in command or not re.search(r"\b(?:git apply|patch)\b", command):
        return []
    return [path for path in _DIFFED.findall(command) if path != "/dev/null"]
