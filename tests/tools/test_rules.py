"""Rules: what they let through is run in bash to see what it really runs; deny rules are dodged if they can be."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from outlive.errors import ConfigError
from outlive.tools.rules import Rules
from outlive.tools.sandbox import shell

ALLOW = (
    *("bash(alpha*)", "bash(git status*)", "bash(echo*)", "bash(cd*)", "bash(beta one)", "bash(gamma x *)"),
    *("bash(printf*)", "bash(read*)", "bash(test*)", "bash(unset*)", "bash(hash*)", "bash(./tool*)"),
)
PROGRAMS = ("alpha", "beta", "gamma", "git", "evil", "rm", "sh", "env", "alphabet", "time", "sudo", "if", "status")
LISTED = ("alpha", "git status", "beta one", "gamma x", "tool")


@dataclass
class Recorder:
    """A PATH in which every program only writes down how it was called."""

    folder: Path
    work: Path
    log: Path

    def run(self, line: str) -> list[str]:
        """What bash really runs for a line."""
        self.log.write_text("")
        subprocess.run(
            [shell(), "-c", line],
            cwd=self.work,
            env={"PATH": str(self.folder), "RECORD": str(self.log), "HOME": str(self.work)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        return self.log.read_text().splitlines()

    def left(self) -> list[str]:
        return sorted(str(path.relative_to(self.work)) for path in self.work.rglob("*"))


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    base = tmp_path_factory.mktemp("recorder")
    for name in ("bin", "work", "work/sub"):
        (base / name).mkdir()
    script = '#!/bin/sh\necho "${0##*/} $*" | { read -r line; echo "$line" >> "$RECORD"; }\n'
    tools = [*(base / "bin" / name for name in PROGRAMS), base / "work/tool", base / "work/sub/evil"]
    for tool in tools:
        tool.write_text(script)
        tool.chmod(0o755)
    (base / "work/sub/tool").write_text(script.replace("${0##*/}", "evil"))
    (base / "work/sub/tool").chmod(0o755)
    return Recorder(base / "bin", base / "work", base / "log")


def check(recorder: Recorder, line: str) -> bool:
    """Whether the rules let a line through; if so, that bash runs only what is listed and writes nothing."""
    if not Rules(ALLOW).allowed("bash", line, ()):
        return False
    before = recorder.left()
    for ran in recorder.run(line):
        assert any(ran.strip() == one or ran.startswith((f"{one} ", "git status")) for one in LISTED), (line, ran)
        assert not ran.startswith("beta") or ran.strip() == "beta one", (line, ran)
    assert recorder.left() == before, line
    return True


PIECES = (
    *PROGRAMS,
    *(
        "git status",
        "beta one",
        "gamma x",
        "echo",
        "cd",
        "printf",
        "-v",
        "PATH",
        "read",
        "test",
        "unset",
        "hash",
        "-p",
    ),
    *("&&", "||", ";", "|", "&", "\n", "|&", ";;", "!", "{", "}", "(", ")", "$(", "`", "<(", ">(", "$((", "))", "${"),
    *(
        "$",
        "\\",
        "'",
        '"',
        "$'",
        '$"',
        "#",
        ">",
        ">>",
        "<",
        "<<",
        "<<<",
        "2>&1",
        ">/dev/null",
        "2>/dev/null",
        "&>",
        ">&",
    ),
    *(
        "1>&2",
        "2>x",
        ">&x",
        "<>",
        "=",
        "A=b",
        "a[0]=1",
        "*",
        "?",
        "[",
        "]",
        "~",
        "\t",
        " ",
        "\r",
        "\x0b",
        "\u00a0",
        "é",
    ),
    *("\\\n", "x", "-c", "a[$(evil)]", "'a[$(evil)]'", "./tool", "sub", "..", "/dev/null", "EOF", "in", "do", "done"),
    *(
        "then",
        "fi",
        "eval",
        "exec",
        "command",
        "builtin",
        "source",
        ".",
        "function",
        "coproc",
        "case",
        "esac",
        "{a,b}",
    ),
    *("$PATH", "$*", "!!", "^a^b", "%1", "\\;", "';'", '"&&"', "'\\''", '"\\""', "'", "''", '""', "2", "-"),
)


@settings(max_examples=1500, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from((" ", " ", ""))), min_size=1, max_size=10))
def test_no_line_that_runs_something_unlisted_is_ever_allowed(
    recorder: Recorder, parts: list[tuple[str, str]]
) -> None:
    event(f"allowed: {check(recorder, ''.join(piece + gap for piece, gap in parts))}")


GOOD = st.sampled_from(
    ("alpha", "git status", "beta one", "gamma x y", "echo", "cd sub", "./tool", "alpha 'a b' \"c\"")
)
ARGUMENT = st.one_of(
    st.sampled_from(PIECES),
    st.text(alphabet="ab $`'\"\\;|&<>(){}*?[]~!#=\n\té", max_size=6),
    st.text(alphabet='ab $`"\\;|&<>(){}*?[]~!#=\n\té', max_size=6).map(lambda text: f"'{text}'"),
    st.text(alphabet="ab '\\;|&<>(){}*?[]~!#=\n\té\"", max_size=6).map(lambda text: f'"{text}"'),
)
SIMPLE = st.builds(lambda program, rest: " ".join((program, *rest)), GOOD, st.lists(ARGUMENT, max_size=3))
JOIN = st.sampled_from((" && ", " || ", "; ", " | ", "\n", "&&", ";", "|", " &&\n", " 2>&1 | ", " >/dev/null; "))


@settings(max_examples=1000, suppress_health_check=list(HealthCheck))
@given(first=SIMPLE, rest=st.lists(st.tuples(JOIN, SIMPLE), max_size=3))
def test_nor_is_a_chain_of_listed_ones_with_something_hidden_in_it(
    recorder: Recorder, first: str, rest: list[tuple[str, str]]
) -> None:
    event(f"allowed: {check(recorder, first + ''.join(join + simple for join, simple in rest))}")


ATTACKS = (
    *("alpha; evil", "alpha && evil", "alpha || evil", "alpha | evil", "alpha & evil", "alpha\nevil", "alpha &evil"),
    *("alpha $(evil)", "alpha `evil`", 'alpha "$(evil)"', 'alpha "`evil`"', "alpha <(evil)", "alpha >(evil)"),
    *(
        "alpha > x",
        "alpha >x",
        "alpha>x",
        "alpha 2>x",
        "alpha &>x",
        "alpha >>x",
        "alpha >&x",
        "alpha >|x",
        "alpha <>x",
    ),
    *(
        "(evil)",
        "{ evil; }",
        "! evil",
        "time evil",
        "if evil; then alpha; fi",
        "A=1 evil",
        "PATH=sub alpha",
        "alpha;evil",
    ),
    *(
        "echo ${x:=$(evil)}",
        "echo $((a[$(evil)]))",
        "alpha <<EOF\n$(evil)\nEOF",
        "alpha <<< $(evil)",
        "alpha () { evil; }",
    ),
    *(
        "printf -v PATH sub",
        "unset 'a[$(evil)]'",
        "test -v 'a[$(evil)]'",
        "read PATH",
        "hash -p sub/evil alpha\nalpha",
    ),
    *(
        "cd sub && ./tool",
        "cd sub; ./tool",
        "alpha 'x\n' \nevil",
        "alpha \\\n; evil",
        "alpha # \nevil",
        "alpha \\'; evil",
    ),
    *(
        "alphabet",
        "./alpha",
        "al?ha",
        "*",
        "'alpha' x; evil",
        "git stat",
        "git 'status x",
        "git",
        "beta one two",
        "beta",
    ),
    *(
        "gamma",
        "coproc evil",
        "function alpha { evil; }",
        "alpha |& evil",
        "alpha && { evil; }",
        "~/evil",
        "{evil,x}",
    ),
    *(
        "alpha\r\nevil",
        "alpha\x00; evil",
        "alpha\u2028evil; evil",
        "\ud800",
        "alpha \x0b evil; evil",
        "",
        " ",
        ";",
        "&&",
    ),
    *(
        "alpha &&",
        "&& alpha",
        "alpha ;; alpha",
        "alpha 2>&1evil",
        "echo x >/dev/null/../x",
        "alpha >/dev/nullx",
        "[ x ]",
    ),
)


@pytest.mark.parametrize("line", ATTACKS)
def test_what_is_not_fully_understood_or_not_listed_is_not_allowed(line: str) -> None:
    assert not Rules(ALLOW).allowed("bash", line, ())


@pytest.mark.parametrize(
    "line",
    [
        *(
            "alpha",
            "alpha -x --y=z 'a; b' \"c && d\"",
            "git status --short",
            "git status && alpha | echo x",
            "alpha;",
        ),
        *("alpha 2>&1 | echo", "alpha >/dev/null 2>&1", "alpha &>/dev/null", "\n alpha\n\ngit status\n", "beta one"),
        *(
            "gamma x",
            "gamma x y z",
            "alpha 'x\ny'",
            'alpha "\\$HOME"',
            "alpha a\\;b",
            "alpha *.py",
            "cd sub && alpha",
        ),
        *(
            "git status-long",
            "echo 'é'",
            "./tool x",
            'alpha "a \\"b\\" c"',
            "alpha < /dev/null",
            "alpha &&\n git status",
        ),
    ],
)
def test_a_plain_line_of_listed_commands_is_allowed(recorder: Recorder, line: str) -> None:
    assert check(recorder, line)


def test_the_recorder_sees_what_a_line_really_runs(recorder: Recorder) -> None:
    """The properties above can fail: an allowed line that hid a program would be noticed."""
    assert recorder.run("alpha x; evil $(rm y) && (gamma)") == ["alpha x", "rm y", "evil", "gamma"]
    assert recorder.run("cd sub && ./tool") == ["evil"]


def test_every_command_may_be_allowed_at_once() -> None:
    for rule in ("bash", "bash(*)"):
        assert Rules([rule]).allowed("bash", "anything $(at all) > x", ())


def test_a_rule_is_for_its_tool_only() -> None:
    assert not Rules(["bash"]).allowed("write_file", "x", ["x"])
    assert not Rules([]).allowed("bash", "ls", ())


DENIED = (
    *(
        "rm x",
        "ls; rm x",
        "ls && rm -rf /",
        "/bin/rm x",
        "r''m x",
        "r\\m x",
        "'rm' x",
        "sudo rm x",
        "xargs rm",
        "$(rm x)",
    ),
    *(
        "bash -c 'rm x'",
        "`rm`",
        "if true; then rm x; fi",
        "A=1 rm x",
        "env A=rm rm",
        "echo $(ls|rm)",
        "ls\nrm",
        "(rm)",
    ),
    *("git push", "git 'push' -f", "x=$(git push)", "ls & git push", 'sh -c "git push origin"', "GIT=1 git push"),
)


@pytest.mark.parametrize("line", DENIED)
def test_a_denied_program_is_found_however_it_is_spelt(line: str) -> None:
    rules = Rules(["bash"], ["bash(rm*)", "bash(git push*)"])
    assert rules.denied("bash", line, ()) in ("bash(rm*)", "bash(git push*)")


@pytest.mark.parametrize("line", ["ls", "git pull", "farm x", "git status; git log", "rmdir x", "npm run x"])
def test_other_programs_are_not_denied(line: str) -> None:
    assert Rules([], ["bash(rm*)", "bash(git push*)"]).denied("bash", line, ()) == ""


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("edit_file(src/**)", "src/a/b.py", True),
        ("edit_file(src/**)", "src2/a.py", False),
        ("edit_file(src/*)", "src/a.py", True),
        ("edit_file(src/*)", "src/a/b.py", False),
        ("edit_file(*.md)", "docs/a.md", True),
        ("edit_file(./a.md)", "a.md", True),
        ("edit_file(./a.md)", "docs/a.md", False),
        ("edit_file(**/test_?.py)", "x/y/test_a.py", True),
        ("edit_file(**/test_?.py)", "test_a.py", True),
        ("edit_file(a.c)", "abc", False),
        ("edit_file(src/[x].py)", "src/x.py", False),
        ("edit_file", "any/thing", True),
        ("edit_file(src/*)", "src/a\n/b", False),
    ],
)
def test_file_rules_are_globs_from_the_root(rule: str, path: str, covered: bool) -> None:
    assert Rules([rule]).allowed("edit_file", path, [path]) is covered
    assert bool(Rules([], [rule]).denied("edit_file", path, [path])) is covered


def test_all_paths_of_a_call_must_be_allowed_and_none_denied() -> None:
    rules = Rules(["edit_file(src/**)"], ["edit_file(.env)", "*(secrets/**)"])
    assert rules.allowed("edit_file", "", ["src/a", "src/b"])
    assert not rules.allowed("edit_file", "", ["src/a", "lib/b"])
    assert rules.denied("edit_file", "", ["src/a", "x/.ENV"])
    assert rules.denied("read_file", "", ["secrets/key"])
    assert rules.denied("bash", "cat ./secrets/key", ())
    assert rules.denied("bash", "cat src/../secrets/key | head", ())
    assert rules.denied("bash", "cat src/secret", ()) == ""


@pytest.mark.parametrize(
    "rule",
    [
        *(
            "",
            "bash(",
            "bash()",
            "bash(a; b)",
            "bash(a && b)",
            "bash($(x))",
            "bash(a > b)",
            "bash(py*st x)",
            "bash(a|b)",
        ),
        *("two words", "bash)x(", "(x)", "bash(A=1 x)", "bash('a')", "bash(* x)"),
    ],
)
def test_a_rule_that_says_nothing_clear_is_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match="is no rule"):
        Rules([rule])


def test_a_rule_cannot_allow_everything() -> None:
    with pytest.raises(ConfigError, match="bypass"):
        Rules(["*"])
    assert Rules([], ["*"]).denied("bash", "ls", ()) == "*"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pytest -x tests", "bash(pytest*)"),
        ("git status -s", "bash(git status *)"),
        ("git -C x status", "bash(git -C x status)"),
        ("rm -rf build", "bash(rm -rf build)"),
        ("python -c 'print(1); x'", "bash(python -c 'print(1); x')"),
        ("uv run pytest", "bash(uv run pytest)"),
        ("./run.sh *", "bash(./run.sh '*')"),
        ("source .venv/bin/activate && alpha", "bash(source .venv/bin/activate)"),
        ("alpha && pytest && pytest -x", "bash(pytest*)"),
        ("pytest 2>&1 | tail -5", "bash(pytest*) bash(tail*)"),
        ("pytest && alpha && ruff check", "bash(pytest*) bash(ruff*)"),
        ("a | b | c | d", ""),
        ("pytest $(evil)", ""),
        ("pytest > x", ""),
        ("cd sub && ./x", ""),
    ],
)
def test_always_offers_rules_that_are_enough_and_no_wider_than_they_must_be(line: str, offered: str) -> None:
    rules = Rules(["bash(alpha*)", "bash(cd*)"])
    found = rules.always("bash", line, ())
    assert " ".join(found) == offered
    for rule in found:
        rules.add(rule)
    assert rules.allowed("bash", line, ()) == bool(found)


@settings(max_examples=300)
@given(words=st.lists(st.text(alphabet="ab *?['\"\\$;é\n-", max_size=5), max_size=4))
def test_what_always_offers_covers_the_very_command(words: list[str]) -> None:
    import shlex

    line = shlex.join(["rm", *words])
    rules = Rules()
    (rule,) = rules.always("bash", line, ())
    rules.add(rule)
    assert rules.allowed("bash", line, ())
    assert not rules.allowed("bash", line + " more", ())


def test_always_for_files_is_their_folder() -> None:
    assert Rules().always("edit_file", "", ["src/a/b.py"]) == ("edit_file(src/a/**)",)
    assert Rules().always("edit_file", "", ["a.py"]) == ("edit_file(./a.py)",)
    assert Rules().always("edit_file", "", ["x*/a.py"]) == ()
    assert Rules().always("web", "", []) == ("web",)


def test_bash_is_what_the_rules_were_tried_with() -> None:
    assert os.path.basename(shell()) == "bash"
