"""The programs of any line are found, whatever it is, with bounded work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.context.ledger.shell import DEEPEST, read_line
from outlive.shell import lenient
from outlive.shell.lenient import MAX_PARSED_BYTES, programs
from outlive.shell.tree import parse
from tests.shell.recorded import recorded_commands


def words(line: str) -> list[list[str]]:
    return [program.words for program in programs(line)[0]]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all that the parser is given."""
    sizes: list[int] = []

    def counted(source: bytes) -> object:
        sizes.append(len(source))
        return parse(source)

    monkeypatch.setattr(lenient, "parse", counted)
    return sizes


def test_a_redirection_into_a_substitution_ends() -> None:
    """It once was read for ever, taking all memory."""
    assert words("echo a &>(cat)") == [["echo", "a"], ["cat"]]
    assert words("&>(&>(") == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a b | c 'd e' && f", [["a", "b"], ["c", "d e"], ["f"]]),
        ("A=1 a; export B=2 C", [["a"], ["export", "B=2", "C"]]),
        ("python3 - <<'E'\nrm x\nE\nls", [["python3", "-"], ["ls"]]),
        ("cat <<E b && c\nx\nE", [["cat", "b"], ["c"]]),
        ("for x in a b; do c $x; done", [["c", "$x"]]),
        ("case $x in a|b) c;; *) d;; esac", [["c"], ["d"]]),
        ("if [ -f a ]; then b; elif c; then d; else e; fi", [["[", "-f", "a", "]"], ["b"], ["c"], ["d"], ["e"]]),
        ("f() { a; }; while b; do c; done", [["a"], ["b"], ["c"]]),
        ("(a; b) & ! c", [["a"], ["b"], ["c"]]),
        ("a $(b c) `d` \"$e f\" $'g' x\\ y", [["a", "$(b c)", "`d`", "$e f", "g", "x y"]]),
        ("a \\\n  b\nc", [["a", "b"], ["c"]]),
        ("a > b c", [["a", "c"]]),
        ("a # b", [["a"]]),
        ("a 'b", [["a", "'b"]]),
        ("a\r\nb\r\n", [["a"], ["b"]]),
        ("", []),
    ],
)
def test_programs_and_words(line: str, found: list[list[str]]) -> None:
    assert words(line) == found


@pytest.mark.parametrize(
    ("line", "outputs"),
    [
        ("a > b 2> c", ["b", "c"]),
        ("a >> $T/$c.json", ["$T/$c.json"]),
        ("a > 'b c' 2>&1", ["b c"]),
        ("a >&2 >&- < x <<< y", []),
        ("a &> b", ["b"]),
        ("{ a; b; } > c", ["c"]),
        ("while a; do b; done < x > y", ["y"]),
        ("cat <<E > b\nx > y\nE", ["b"]),
        ("a '> b'", []),
    ],
)
def test_where_output_goes(line: str, outputs: list[str]) -> None:
    assert [output for program in programs(line)[0] for output in program.outputs] == outputs


def test_operators_are_read_in_the_order_of_the_line() -> None:
    found, plain = programs("cd x && a 2>&1 | b; c || d &")
    assert [(one.after, one.then) for one in found] == [
        *(("", "&&"), ("&&", "|"), ("|", ";"), (";", "||"), ("||", "&")),
    ]
    assert plain
    assert not programs("if a; then b; fi")[1]


def test_what_follows_the_text_of_a_long_file_is_read(parsed: list[int]) -> None:
    body = "x = 'a > b' && (c)\n" * 2_000
    line = f"cat > a.py <<'END' && chmod +x a.py\n{body}END\npytest -q && cat <<-E1\n{body}\tE1\nls"
    assert words(line) == [["cat"], ["chmod", "+x", "a.py"], ["pytest", "-q"], ["cat"], ["ls"]]
    assert max(parsed) <= MAX_PARSED_BYTES


FLOODS = (
    *(
        "a|",
        "a;",
        "&>(",
        "`<<<!",
        ";>",
        "(",
        ")",
        "$(",
        '"$(',
        "{ ",
        "${",
        "=(",
        "<<a ",
        "<<a\n",
        "if ",
        "[",
        "'",
        '"',
    ),
    *("\x00", "\x00$", "\ud800", "é", "\\", "bash -c '", "bash -c a;", "a && ", "f() "),
)


@pytest.mark.parametrize("unit", FLOODS)
def test_the_parser_is_given_little_of_any_line(unit: str, parsed: list[int]) -> None:
    """tree-sitter takes time and memory that grow with the square of what it cannot make sense of."""
    read_line((unit * 256_000)[:256_000])
    assert parsed
    assert sum(parsed) <= MAX_PARSED_BYTES * (1 + DEEPEST)


@given(
    st.lists(
        st.sampled_from(("bash -c ", "'", '"', "\\", "a", " ", ";", "$(", ")", "<<E\n", "E\n", "|", "\n")),
        max_size=60,
    )
)
def test_any_line_can_be_read(parts: list[str]) -> None:
    read_line("".join(parts))


def test_deep_nesting_is_read_without_recursion() -> None:
    for line in (
        "a && " * 390,
        "(" * 900 + "a" + ")" * 900,
        "$(" * 600 + "a" + ")" * 600,
        "{ " * 600 + "a" + "; }" * 250,
    ):
        read_line(line)


def test_recorded_commands_can_be_read(parsed: list[int]) -> None:
    lines = recorded_commands()
    found = [program for line in lines for program in read_line(line).programs]
    assert len(found) > len(lines)
    assert all(program.words for program in found)
    assert max(parsed) <= MAX_PARSED_BYTES
