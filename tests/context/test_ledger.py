"""The ledger: facts read off calls and results, never guessed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.context.engine import Engine
from outlive.context.ledger import Ledger, facts
from outlive.context.ledger.shell import command_of, read_line
from outlive.events import AssistantSaid, Checkpointed, SessionStarted, ToolFinished, UserSaid
from outlive.messages import Text, ToolCall, call_file, call_label

CODEX = (
    "Chunk ID: 0a1b2c\nWall time: 1.2345 seconds\nProcess exited with code {code}\nOriginal token count: 9\nOutput:\n"
)
RUNNING = "Chunk ID: 0a1b2c\nWall time: 1.0000 seconds\nProcess running with session ID {name}\nOutput:\n"
RED = "FAILED tests/test_a.py::test_x - assert 1 == 2\n=== 1 failed, 4 passed in 0.31s ===\n"
GREEN = "5 passed in 0.30s\n"


class Book:
    """A ledger, and calls in short."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.event = 0

    def call(
        self, tool: str, given: dict[str, Any], text: str = "", *, error: bool = False, code: int | None = None
    ) -> None:
        self.event += 1
        self.ledger.note(ToolCall(str(self.event), tool, given), self.event, text, is_error=error, exit_code=code)

    def ran(self, command: Any, text: str = "", code: int | None = None) -> None:
        """By a tool that has exit codes."""
        self.call("bash", {"command": command}, text, code=code)

    def claude(self, command: str, text: str = "", code: int = 0) -> None:
        """By Claude Code, which has one only where it is not 0."""
        self.call("Bash", {"command": command}, f"Exit code {code}\n{text}" if code else text, error=bool(code))

    @property
    def failing(self) -> list[str]:
        return list(self.ledger.failing)

    @property
    def written(self) -> list[str]:
        return list(self.ledger.written)


# -- what a command is


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("shell", {"command": ["bash", "-lc", "pytest -q"]}),
        ("shell", {"command": ["/bin/zsh", "-c", "pytest -q"], "workdir": "/repo"}),
        ("shell", {"command": ["pytest", "-q"]}),
        ("shell", {"type": "exec", "command": ["bash", "-lc", "pytest -q"], "timeout_ms": 1000}),
        ("exec_command", {"cmd": "pytest -q", "workdir": "/repo"}),
        ("exec", {"input": 'const r = await tools.exec_command({cmd:"pytest -q","workdir":"/r"}); text(r.output);'}),
        ("execute_bash", {"command": "pytest -q"}),
    ],
)
def test_a_command_is_known_however_its_tool_spells_it(tool: str, given: dict[str, Any]) -> None:
    book = Book()
    book.call(tool, given, CODEX.format(code=1) + RED + "[main 1a2b3c4] Fix it\n")
    (command,) = book.ledger.commands
    assert (command.text, command.exit_code, command.outcome) == ("pytest -q", 1, "failed")
    assert book.failing == ["tests/test_a.py::test_x"]
    assert book.ledger.commits == {"1a2b3c4": "Fix it"}


@pytest.mark.parametrize(
    ("script", "label"),
    [
        ('text(await tools.exec_command({"cmd": "grep \\"a b\\" x.txt", "yield": 1}))', 'exec grep "a b" x.txt'),
        ('const found = await tools.exec_command({cmd:"make"});', "exec make"),
        ("text(1 + 1)", "exec input=text(1 + 1)"),
        ("const one = 1\nconst two = 2", "exec"),
    ],
)
def test_the_label_of_a_script_says_which_command_it_runs(script: str, label: str) -> None:
    assert call_label(ToolCall("1", "exec", {"input": script})) == label


def test_the_label_of_a_list_of_words_says_what_ran() -> None:
    call = ToolCall("1", "shell", {"command": ["bash", "-lc", "cat src/app.py | head"], "workdir": "/repo"})
    assert call_label(call) == "shell cat src/app.py | head"
    assert call_file(call) == "src/app.py"


def test_the_label_of_a_tool_with_parameters_of_its_own_shows_their_short_values() -> None:
    forecast = {"city": "Rome", "days": 3, "fields": ["rain"], "note": "x" * 61, "more": "a\nb"}
    assert call_label(ToolCall("1", "weather", forecast)) == "weather city=Rome days=3"
    assert call_label(ToolCall("1", "weather", {})) == "weather"


def test_what_an_editor_is_told_is_no_command() -> None:
    book = Book()
    book.call("str_replace_editor", {"command": "view", "path": "/w/a.py"}, "     1\tx")
    assert (book.written, book.ledger.commands) == ([], [])
    book.call(
        "str_replace_based_edit_tool", {"command": "str_replace", "path": "/w/a.py"}, "The file has been edited."
    )
    assert (book.written, book.ledger.commands) == (["/w/a.py"], [])
    book.call(
        "str_replace_editor", {"command": "insert", "path": "/w/b.py"}, "ERROR:\nParameter `new_str` is required."
    )
    assert book.written == ["/w/a.py"]


# -- exit codes


@pytest.mark.parametrize(
    ("text", "error", "code"),
    [
        ("Exit code 2\nboom", True, 2),
        ("Exit code: 3\nWall time: 0.1 seconds\nOutput:\nx", False, 3),
        (CODEX.format(code=4) + "x", False, 4),
        (
            "x\n[The command completed with exit code 5.]\n[Current working directory: /w]\n"
            "[Command finished with exit code 5]",
            False,
            5,
        ),
        ("Command `grep x y` executed with exit code 1.", False, 1),
        ("x\n[exit code 137 (SIGKILL)]", False, 137),
        ("<returncode>6</returncode>\n<output>x</output>", False, 6),
        ("## 2.1\n- exit code 3 now means busy\n- Process exited with code 9", False, None),
        ("the query returned 5 rows", False, None),
        ("Exit code 3\nis what the manual says", False, None),
        ("the worker exited with code 7\nand the rest went on", False, None),
        ("[exit code 2]\nstood in the log, and more followed", False, None),
    ],
)
def test_an_exit_code_is_what_the_harness_wrote_not_what_the_output_says(
    text: str, error: bool, code: int | None
) -> None:
    book = Book()
    book.call("run", {"command": "cat CHANGELOG.md"}, text, error=error)
    assert book.ledger.commands[0].exit_code == code
    assert bool(book.ledger.errors) == bool(code)


# -- what counts as a check

CHECKS = [
    "pytest",
    "cd app && pytest -q",
    "python -m pytest tests",
    "python3.12 -X dev -m pytest",
    "uv run pytest",
    "uv run --extra dev python -m pytest -x",
    "poetry run pytest",
    ".venv/bin/pytest -n 2",
    "PYTHONPATH=src A=1 pytest",
    "env A=1 pytest",
    "timeout 60 pytest",
    "timeout -k 5 60s pytest",
    "bash -lc 'cd x && pytest'",
    "docker compose run --rm app pytest -q",
    "python -m unittest discover",
    "python manage.py test shop",
    "cargo test --workspace",
    "cargo +nightly test",
    "cargo nextest run",
    "cargo clippy --all-targets",
    "go test ./...",
    "go vet ./...",
    "npm test",
    "npm run lint",
    "npm t",
    "pnpm -r test",
    "yarn build",
    "npx jest src",
    "npx tsc --noEmit",
    "bun test",
    "deno test",
    "node --test",
    "make test",
    "make -j4 check",
    "make",
    "just lint",
    "mise run test:unit",
    "tox -e py312",
    "nox -s tests",
    "ruff check .",
    "ruff format --check src",
    "mypy --strict src",
    "npx eslint src",
    "golangci-lint run",
    "./gradlew test",
    "mvn -q verify",
    "bundle exec rspec",
    "vendor/bin/phpunit",
    "ctest --test-dir build",
    "cmake --build build",
    "dotnet test",
    "mix test",
    "./scripts/run_tests.sh",
    "sh ci/test.sh",
    "(cd web && npm test)",
]
NO_CHECKS = [
    "ls tests",
    "cat tests/test_a.py",
    "grep -rn pytest .",
    "git commit -m 'make test pass'",
    "echo pytest",
    "rm -r build",
    "cd tests",
    "pip install pytest",
    "uv add pytest",
    "npm install",
    "npm ci",
    "yarn add jest",
    "brew install make",
    "which pytest",
    "pytest --version",
    "pytest --collect-only -q",
    "ruff format .",
    "cargo run",
    "make install",
    "make clean",
    "python script.py",
    "python -c 'import pytest'",
    "vim Makefile",
    "sed -n 1,20p tests/test_build.py",
    "git log --grep test",
    "find . -name 'test_*'",
    "docker build .",
    "cat <<EOF\npytest\nEOF",
    "# pytest",
]


@pytest.mark.parametrize("command", CHECKS)
def test_a_run_of_a_checking_program_is_a_check(command: str) -> None:
    book = Book()
    book.ran(command, "", 0)
    assert facts(book.ledger) == f"Last check that passed: {command}"


@pytest.mark.parametrize("command", NO_CHECKS)
def test_a_line_that_only_names_one_is_none(command: str) -> None:
    book = Book()
    book.ran("pytest", RED, 1)
    book.ran(command, "", 0)
    assert book.failing
    assert "passed" not in facts(book.ledger)


@pytest.mark.parametrize(
    ("command", "text", "code", "how"),
    [
        ("pytest | tail -3", RED, 0, "failed"),
        ("pytest | tail -3", GREEN, 0, "passed"),
        ("pytest | tail -3", "", 0, "unknown"),
        ("set -o pipefail; pytest | tail -3", "", 0, "passed"),
        ("pytest || true", "", 0, "unknown"),
        ("pytest; echo done", "done", 0, "unknown"),
        ("pytest; echo done", RED + "done", 0, "failed"),
        ("pytest && git push", "", 0, "passed"),
        ("pytest && git push", "", 1, "unknown"),
        ("pytest && git push", GREEN + "rejected", 1, "passed"),
        ("cd x && pytest", "", 2, "failed"),
        ("git pull && pytest", "", 1, "unknown"),
        ("ruff check . && mypy src && pytest", "", 1, "failed"),
        ("for f in a b; do pytest $f; done", "", 0, "unknown"),
        ("if pytest; then echo; fi", "", 0, "unknown"),
        ("pytest &", "", 0, "unknown"),
        ("pytest", "no tests ran in 0.01s", None, "unknown"),
        ("cargo test 2>&1 | tail", "test result: ok. 3 passed; 0 failed;", None, "passed"),
        ("cargo test 2>&1 | tail", "test result: FAILED. 2 passed; 1 failed;", None, "failed"),
        ("go test ./... | tail", "ok  \texample.org/a\t0.1s\nFAIL\texample.org/b\t0.1s\nFAIL", None, "failed"),
        ("go test ./... | tail", "ok  \texample.org/a\t0.1s", None, "passed"),
        ("go test ./... | grep ok", "ok  \texample.org/a\t0.1s", None, "unknown"),
        ("npm test | tail", "Tests:       1 failed, 4 passed, 5 total", None, "failed"),
        ("npm test | tail", "Tests:       5 passed, 5 total", None, "passed"),
        (
            "npx vitest run | tail",
            " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 9 passed (10)",
            None,
            "failed",
        ),
        ("npx vitest run | tail", " Test Files  3 passed (3)\n      Tests  10 passed (10)", None, "passed"),
        ("python -m unittest | tail", "Ran 3 tests in 0.1s\n\nOK", None, "passed"),
        ("python -m unittest | tail", "Ran 3 tests in 0.1s\n\nFAILED (failures=1)", None, "failed"),
        ("mypy src | tail", "Success: no issues found in 3 source files", None, "passed"),
        ("mypy src | tail", "Found 2 errors in 1 file (checked 3 source files)", None, "failed"),
        ("ruff check . | tail", "All checks passed!", None, "passed"),
        ("ruff check . | tail", "Found 3 errors.", None, "failed"),
        ("npx eslint . | tail", "✖ 3 problems (2 errors, 1 warning)", None, "failed"),
        ("npx tsc | tail", "a.ts(1,2): error TS2304: Cannot find name 'x'.", None, "failed"),
        ("./gradlew test | tail", "BUILD SUCCESSFUL in 3s", None, "passed"),
        ("mvn test | tail", "[INFO] BUILD FAILURE", None, "failed"),
        ("bundle exec rspec | tail", "3 examples, 1 failure", None, "failed"),
        ("bundle exec rspec | tail", "3 examples, 0 failures", None, "passed"),
        ("mix test | tail", "5 tests, 0 failures", None, "passed"),
        ("dotnet test | tail", "Passed!  - Failed:     0, Passed:     3", None, "passed"),
        ("make test | tail", "make: *** [Makefile:3: test] Error 1", None, "failed"),
    ],
)
def test_a_check_ends_as_its_exit_code_says_or_else_as_it_printed_or_else_it_is_not_known(
    command: str, text: str, code: int | None, how: str
) -> None:
    book = Book()
    book.ran(command, text, code)
    assert book.ledger.commands[0].outcome == how


def test_an_unknown_end_is_not_said() -> None:
    book = Book()
    book.ran("pytest | tail -3", "", 0)
    assert facts(book.ledger) == ""


# -- failing tests


def test_a_test_that_passed_since_is_no_longer_failing_in_a_recording_without_exit_codes() -> None:
    book = Book()
    book.claude("pytest -q 2>&1 | tail -5", RED)
    assert book.failing == ["tests/test_a.py::test_x"]
    book.claude("pytest -q 2>&1 | tail -5", GREEN)
    assert book.failing == []
    assert facts(book.ledger) == "Last check that passed: pytest -q 2>&1 | tail -5"


def test_claude_code_marks_what_went_wrong_so_the_rest_went_well() -> None:
    book = Book()
    book.claude("npx tsc --noEmit", "a.ts(1,2): error TS2304: Cannot find name 'x'.", 2)
    assert facts(book.ledger).startswith("Last check that failed: npx tsc --noEmit (exit 2)")
    book.claude("npx tsc --noEmit")
    assert "Last check that passed: npx tsc --noEmit" in facts(book.ledger)
    assert "that failed" not in facts(book.ledger)


@pytest.mark.parametrize(
    ("found", "text", "later", "clears"),
    [
        ("pytest", RED, "pytest", True),
        ("pytest tests/test_a.py", RED, "pytest", True),
        ("pytest", RED, "pytest tests/test_a.py", True),
        ("pytest", RED, "pytest tests/test_a.py::test_x", True),
        ("pytest", RED, "pytest ./tests/ -q", True),
        ("pytest", RED, "pytest /repo/tests/test_a.py", True),
        ("pytest", RED, "pytest -k test_x", True),
        ("pytest", RED, "pytest --lf", True),
        ("pytest", RED, "uv run python -m pytest -x -n 4", True),
        ("pytest", RED, "pytest tests/test_b.py", False),
        ("pytest", RED, "pytest tests/test_a.py::test_y", False),
        ("pytest", RED, "pytest -k 'not test_x'", False),
        ("pytest", RED, "pytest -m fast", False),
        ("pytest", RED, "pytest --deselect tests/test_a.py::test_x", False),
        ("pytest", RED, "cd other && pytest", False),
        ("cd app && pytest", RED, "cd app && pytest", True),
        ("cd app && pytest", RED, "cd web && pytest", False),
        ("pytest", RED, "ruff check .", False),
        ("pytest", RED, "npm test", False),
        ("make test", RED, "make test", True),
        ("make test", RED, "pytest", True),
        ("make test", RED, "make lint", False),
        ("go test ./...", "--- FAIL: TestX (0.0s)\nFAIL", "go test ./...", True),
        ("go test ./pkg/a", "--- FAIL: TestX (0.0s)\nFAIL", "go test ./pkg/b", False),
        ("go test ./pkg/a", "--- FAIL: TestX (0.0s)\nFAIL", "go test ./pkg/...", True),
        ("go test ./pkg/a", "--- FAIL: TestX (0.0s)\nFAIL", "go test ./pkg/a -run TestX", True),
        ("go test ./pkg/a", "--- FAIL: TestX (0.0s)\nFAIL", "go test ./pkg/a -run TestY", False),
        ("cargo test", "test a::b ... FAILED", "cargo test", True),
        ("cargo test", "test a::b ... FAILED", "cargo test a::", True),
        ("cargo test", "test a::b ... FAILED", "cargo test c::", False),
        ("cargo test -p x", "test a::b ... FAILED", "cargo test -p y", False),
        ("npx jest", " ✕ adds (5 ms)\nFAIL src/add.test.ts", "npx jest", True),
        ("npx jest", "FAIL src/add.test.ts", "npx jest src/add.test.ts", True),
        ("npx jest", "FAIL src/add.test.ts", "npx jest src/sub.test.ts", False),
    ],
)
def test_only_a_passing_run_that_covers_a_failing_test_clears_it(
    found: str, text: str, later: str, clears: bool
) -> None:
    book = Book()
    book.ran(found, text, 1)
    assert book.failing
    book.ran(later, "", 0)
    assert (not book.failing) == clears


@pytest.mark.parametrize(
    ("red", "green"),
    [
        ("FAILED tests/test_a.py::test_x - boom", "tests/test_a.py::test_x PASSED  [ 50%]"),
        ("--- FAIL: TestX (0.0s)", "--- PASS: TestX (0.1s)"),
        ("test a::b ... FAILED", "test a::b ... ok"),
        ("  ✕ adds (5 ms)", "  ✓ adds (3 ms)"),
        ("FAIL: test_x (tests.test_a.T.test_x)", "test_x (tests.test_a.T.test_x) ... ok"),
    ],
)
def test_a_test_that_is_named_as_passed_is_cleared_though_others_fail(red: str, green: str) -> None:
    book = Book()
    book.ran("make test", red, 1)
    assert len(book.failing) == 1
    book.ran("make test", f"{green}\nFAILED tests/test_z.py::test_z - boom", 1)
    assert book.failing == ["tests/test_z.py::test_z"]


def test_failures_in_a_file_that_is_read_are_no_failures_of_this_session() -> None:
    book = Book()
    book.ran("cat ci.log", RED, 0)
    book.ran("grep FAILED ci.log", RED, 0)
    assert book.failing == []


# -- files


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("awk '$3 > 2.5' data.txt", []),
        ("python -c 'print(1 > 0.5)'", []),
        ('test 3 -gt 2 && echo "a > b.txt"', []),
        ("echo x > a.txt", ["a.txt"]),
        ("echo x >> 'my file.txt' 2>/dev/null", ["my file.txt"]),
        ("make 2>&1 >/dev/null", []),
        ("make &> build.log", ["build.log"]),
        ("cat > src/a.py <<'EOF'\nif x > y.z:\n  rm('b')\nEOF", ["src/a.py"]),
        ("mv a.py b.py", ["a.py", "b.py"]),
        ("mv a.py b.py lib/", ["a.py", "b.py", "lib/a.py", "lib/b.py"]),
        ("git mv old.py new.py", ["old.py", "new.py"]),
        ("rm -rf build old.py", ["build", "old.py"]),
        ("git rm -q old.py", ["old.py"]),
        ("git rm --cached old.py", []),
        ("cp -r a.py b.py", ["b.py"]),
        ("cp a.py lib/", ["lib/a.py"]),
        ("echo x | tee -a log.txt out.txt", ["log.txt", "out.txt"]),
        ("sed -i 's/a > b/c/' a.py b.py", ["a.py", "b.py"]),
        ("sed -i '' -e s/a/b/ a.py", ["a.py"]),
        ("sed -i.bak s/a/b/ a.py", ["a.py"]),
        ("sed -n 's/i/j/p' a.py", []),
        ("perl -pi -e 's/a/b/' a.py", ["a.py"]),
        ("touch new.py", ["new.py"]),
        ("git checkout -- a.py", ["a.py"]),
        ("git checkout main", []),
        ("git restore a.py", ["a.py"]),
        ("git restore --staged a.py", []),
        ("cd lib && sed -i s/a/b/ a.py", ["lib/a.py"]),
        ("(cd lib && rm a.py) && rm b.py", ["lib/a.py", "b.py"]),
        ("rm $FILE *.pyc /tmp/x", []),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.py\n+x\n*** End Patch\nEOF", ["src/a.py"]),
        (["apply_patch", "*** Begin Patch\n*** Delete File: src/b.py\n*** End Patch"], ["src/b.py"]),
        ("git apply <<'EOF'\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\nEOF", ["x.py"]),
    ],
)
def test_files_are_changed_by_what_ran_not_by_what_is_quoted(command: Any, changed: list[str]) -> None:
    book = Book()
    book.ran(command, "", 0)
    assert book.written == changed


def test_patch_says_itself_what_it_changed() -> None:
    book = Book()
    book.ran("patch -p1 < fix.diff", "patching file src/a.py\npatching file 'b c.py'", 0)
    assert book.written == ["src/a.py", "b c.py"]


def test_a_line_that_failed_at_its_end_has_changed_what_came_before() -> None:
    book = Book()
    book.claude("sed -i s/a/b/ a.py && pytest", RED, 1)
    book.claude("mv b.py c.py", "mv: cannot stat 'b.py'", 1)
    book.call("Bash", {"command": "rm d.py"}, "The user doesn't want to proceed with this tool use.", error=True)
    book.call("apply_patch", {"input": "*** Update File: e.py"}, "apply_patch verification failed: no such lines")
    assert book.written == ["a.py"]


def test_a_patch_inside_of_a_script_names_its_files() -> None:
    book = Book()
    patch = "*** Begin Patch\\n*** Update File: src/a.rs\\n@@\\n+x\\n*** End Patch"
    script = f'const patch = "{patch}"; await tools.apply_patch(patch);'
    book.call("exec", {"input": script}, "Script completed\nWall time 0.1 seconds\nOutput:\n")
    assert book.written == ["src/a.rs"]


# -- background


def test_what_a_harness_says_has_ended_is_no_longer_in_the_background() -> None:
    book = Book()
    for number in range(5):
        given = {"command": f"serve {number}", "run_in_background": True}
        book.call("Bash", given, f"Command running in background with ID: b{number}. Output is being written to: /x")
    assert list(book.ledger.background) == ["b0", "b1", "b2", "b3", "b4"]
    book.call("KillShell", {"shell_id": "b0"}, "Successfully killed shell: b0")
    book.call("BashOutput", {"bash_id": "b1"}, "<status>running</status>\n<stdout>x</stdout>")
    book.call("BashOutput", {"bash_id": "b2"}, "<status>completed</status>\n<exit_code>0</exit_code>")
    book.call("TaskStop", {"task_id": "b3"}, '{"message":"Successfully stopped task: b3"}')
    book.ledger.heard("<task-notification>\n<task-id>b4</task-id>\n<status>completed</status>\n</task-notification>")
    assert facts(book.ledger) == "In the background: b1: serve 1"
    book.call("KillShell", {"shell_id": "b1"}, "No shell found with ID: b1", error=True)
    assert facts(book.ledger) == ""


def test_a_check_that_went_on_in_the_background_ends_when_it_is_looked_at() -> None:
    book = Book()
    book.call("exec_command", {"cmd": "pytest -q"}, RUNNING.format(name=4711) + "....")
    assert facts(book.ledger) == "In the background: 4711: pytest -q"
    book.call("write_stdin", {"session_id": 4711, "chars": ""}, RUNNING.format(name=4711) + "..")
    assert book.ledger.background
    book.call("write_stdin", {"session_id": 4711, "chars": ""}, CODEX.format(code=1) + RED)
    assert book.failing == ["tests/test_a.py::test_x"]
    assert facts(book.ledger).startswith("Last check that failed: pytest -q (exit 1)")
    assert not book.ledger.background


def test_our_own_handles_lead_to_the_process() -> None:
    book = Book()
    said = 'Runs in the background as bg1, process 4242. bash_output{"handle": "bg1"} shows what it prints.'
    book.call("bash", {"command": "make test", "background": True}, said)
    book.call("bash_output", {"handle": "bg1"}, "x\n[bg1: runs, process 4242]")
    assert book.ledger.background == {"4242": "make test"}
    book.call("bash_output", {"handle": "bg1"}, "x\n[bg1: finished, exit code 0]", code=0)
    assert facts(book.ledger) == "Last check that passed: make test"


@pytest.mark.parametrize("kill", ["kill 4242", "kill -9 4242", "pkill -f 'serve 1'", "sleep 1; kill 4242 || true"])
def test_what_is_killed_by_a_command_is_gone(kill: str) -> None:
    book = Book()
    book.call("bash", {"command": "serve 1", "background": True}, "Runs in the background as bg1, process 4242.")
    book.ran(kill, "", 0)
    assert not book.ledger.background


def test_a_process_that_was_noticed_gone_is_not_said_to_run() -> None:
    engine = Engine(50_000)
    call = ToolCall("1", "bash", {"command": "serve", "background": True})
    engine.extend(
        [
            SessionStarted(id=1, time=0.0, session="s"),
            UserSaid(id=2, time=0.0, blocks=(Text("serve it"),)),
            AssistantSaid(id=3, time=0.0, blocks=(call,)),
            ToolFinished(id=4, time=0.0, call_id="1", text="Runs in the background as bg1, process 4242."),
        ]
    )
    assert "4242" in facts(engine.history.ledger)
    engine.append(Checkpointed(id=5, time=0.0, label="seen", data={"gone": ["4242"]}))
    assert facts(engine.history.ledger) == ""


def test_only_a_harness_says_that_a_task_has_ended() -> None:
    engine = Engine(50_000)
    call = ToolCall("1", "Bash", {"command": "serve", "run_in_background": True})
    notice = "<task-notification>\n<task-id>b4</task-id>\n<status>completed</status>\n</task-notification>"
    engine.extend(
        [
            SessionStarted(id=1, time=0.0, session="s"),
            AssistantSaid(id=2, time=0.0, blocks=(call,)),
            ToolFinished(id=3, time=0.0, call_id="1", text="Command running in background with ID: b4"),
            UserSaid(id=4, time=0.0, blocks=(Text(notice, "user"),)),
        ]
    )
    assert engine.history.ledger.background
    engine.append(UserSaid(id=5, time=0.0, blocks=(Text(notice, "harness"),)))
    assert not engine.history.ledger.background


# -- any line


@given(st.text(alphabet="ab '\"\\$(){}<>|&;\n#`=-/EOF", max_size=80))
def test_any_line_can_be_read(line: str) -> None:
    read_line(line)
    ledger = Ledger()
    ledger.note(ToolCall("1", "Bash", {"command": line}), 1, line, is_error=False, exit_code=None)
    facts(ledger)


@given(st.lists(st.text(max_size=20), max_size=5))
def test_any_list_of_words_is_a_command(words: list[str]) -> None:
    read_line(command_of(ToolCall("1", "shell", {"command": words})))


def test_an_error_is_told_by_its_own_words_not_by_those_around_it() -> None:
    book = Book()
    book.call("exec_command", {"cmd": "grep x y"}, CODEX.format(code=1))
    book.call("exec_command", {"cmd": "grep x z"}, CODEX.format(code=2) + "grep: z: No such file or directory\n")
    book.claude("diff a b", "", 1)
    assert [line for _, line in book.ledger.errors] == ["grep: z: No such file or directory"]


@pytest.mark.parametrize("line", ["go test -run '(a+)+$' ./...", "npx jest -t '(a+)+$'"])
def test_a_pattern_that_never_ends_does_not_hold_up_the_ledger(line: str) -> None:
    """A model chose the names of the tests and the pattern."""
    book = Book()
    family = "--- FAIL: Test" if line.startswith("go") else "✕ "
    book.ran(line.partition(" -")[0], f"{family}{'a' * 60}!\nFAIL", 1)
    book.ran(line, "ok", 0)
    assert book.failing
