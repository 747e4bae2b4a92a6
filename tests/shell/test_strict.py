"""What is understood of a line is what bash makes of it, and reading takes bounded work."""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from outlive.shell import strict
from outlive.shell.strict import MAX_OPERATORS, MAX_PARSED_BYTES, commands
from outlive.shell.tree import parse
from tests.shell.real_bash import RealBash
from tests.shell.recorded import recorded_commands

AVOIDED = {"builtin", "printf", "exec"}
"""Programs that the recording needs itself, or that would end it."""


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> RealBash:
    return RealBash(tmp_path_factory.mktemp("bash") / "log")


def check(bash: RealBash, line: str) -> bool:
    """Whether a line is understood; if so, that bash runs these commands and no others, word for word."""
    found = commands(line)
    if found is None:
        return False
    if any("/" in one.program or one.program in AVOIDED or "~" in "".join(one.texts) for one in found):
        return False
    said, ran = Counter(one.texts for one in found), bash.run(line)
    assert not ran - said, line
    assert "||" in line or ran == said, line
    return True


def test_real_bash_records_what_runs(bash: RealBash) -> None:
    """The checks below can fail: a hidden command would be seen, and so would another split into words."""
    assert bash.run("a 'b c' | kill -9 1; cd /x && $(rm y) || e ''") == Counter(
        {("a", "b c"): 1, ("kill", "-9", "1"): 1, ("cd", "/x"): 1, ("rm", "y"): 1}
    )


ODD = (
    *(
        "a",
        "git",
        "-x",
        "--y=z",
        "a=b",
        "==",
        "=~",
        "2",
        "-3",
        "1.5",
        "x:y",
        "x,y",
        "^a",
        "%1",
        "@x",
        "+x",
        "-",
        "--",
    ),
    *("*.py", "[a]", "a[0]", "''", '""', "\\;", "a\\$b", "'\\''", '"a\\"b"', "\"x\"z'y'", "é", "'é'", '"a\\nb"'),
    *("export", "unset", "test", "time", "in", "do", "cd", "kill", "eval", "local", "\\!", "#", "a#b", "!", "{", "}"),
    *("{a,b}", "$x", "$(a)", "`a`", "~", "$'a'", '$"a"', "<(a)", "&>(a)", "$((1))", "?(a)", "a()", "(", ")", "[["),
    *("]]", "[", "((", "A=1", "A=(1)", "\\ ", "\\\n", "a\\\nb", "'a\nb'", "\u00a0", "\r", "\x0b", "\x00"),
)
WORDS = st.one_of(
    st.sampled_from(ODD),
    st.text(alphabet="ab '\"\\$`;|&<>(){}[]*?~!#=\n\té-2", max_size=6),
    st.text(alphabet='ab "\\;|&<>(){}*?[]~!#=$`\n\té', max_size=6).map(lambda text: f"'{text}'"),
    st.text(alphabet="ab '\\;|&<>(){}*?[]~!#=\n\té", max_size=6).map(lambda text: f'"{text}"'),
)
REDIRECTS = st.sampled_from(
    (
        *(">/dev/null", "2>/dev/null", "2>&1", "1>&2", ">&2", "&>/dev/null", "</dev/null", "< /dev/null", "3>&1"),
        *(">>/dev/null", "2>&1x", ">/dev/nullx", "2 >/dev/null", "a2>/dev/null", "2>&-", "<&0", "<<<a", "<<E"),
    )
)
PARTS = st.one_of(WORDS, WORDS, WORDS, REDIRECTS)
COMMANDS = st.lists(st.tuples(PARTS, st.sampled_from((" ", " ", " ", "", "\t"))), min_size=1, max_size=5).map(
    lambda parts: "".join(part + gap for part, gap in parts)
)
JOINS = st.sampled_from(
    (" && ", " || ", "; ", " | ", "\n", "&&", ";", "|", " &&\n", "\n\n", ";\n", " & ", "|&", " ;; ")
)


@settings(max_examples=250, suppress_health_check=list(HealthCheck))
@given(first=COMMANDS, rest=st.lists(st.tuples(JOINS, COMMANDS), max_size=3))
def test_bash_runs_what_is_said_to_run_and_nothing_else(
    bash: RealBash, first: str, rest: list[tuple[str, str]]
) -> None:
    event(f"understood: {check(bash, 'x ' + first + ''.join(join + one for join, one in rest))}")


PLAIN = st.one_of(
    st.sampled_from(("a", "-x", "--y=z", "a=b", "2", "-3", "*.py", "''", "\\;", "'\\''", '"a\\"b"', '"x"z', "cd")),
    st.text(alphabet="ab '\\;|&<>(){}*?[]~!#=\n\té", max_size=6).map(lambda text: f'"{text}"'),
)
SIMPLE = st.lists(PLAIN, min_size=1, max_size=4).map(lambda words: " ".join(("x", *words)))


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(first=SIMPLE, rest=st.lists(st.tuples(JOINS, SIMPLE), max_size=3))
def test_plain_lines_are_split_as_bash_splits_them(bash: RealBash, first: str, rest: list[tuple[str, str]]) -> None:
    event(f"understood: {check(bash, first + ''.join(join + one for join, one in rest))}")


def test_recorded_commands_run_as_they_are_understood(bash: RealBash) -> None:
    lines = [line for line in recorded_commands() if commands(line)]
    chosen = random.Random(1).sample(lines, 300)
    assert sum(check(bash, line) for line in chosen) > 150


@pytest.mark.parametrize(
    "line",
    [
        "echo a &>(cat)",
        "echo =~",
        "a [[ ==",
        "echo == 2>&1",  # the 2 would be a word
        "echo ==\nevil",  # and this one command
        "git \\ x",  # the grammar drops the blank word and reports no error
        "cat - <<E\nE",
        "a >/dev/null b",
        ">/dev/null a",
        "a2 2>&1x",
    ],
)
def test_a_line_that_the_grammar_reads_otherwise_than_bash_is_not_understood(line: str) -> None:
    assert commands(line) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a2>/dev/null", ("a2",)),
        ("a 2>/dev/null", ("a",)),
        ("a 2 >/dev/null", ("a", "2")),
        ("export A=1", ("export", "A=1")),
        ("test a == b", ("test", "a", "==", "b")),
        ("a\\ b", None),
    ],
)
def test_digits_builtins_and_operators_among_words(line: str, words: tuple[str, ...] | None) -> None:
    found = commands(line)
    assert (found and found[0].texts) == words


# -- bounded work


FLOODS = ("a|", "a;", "a\n", "a&&", "a ", "'a'", '"', ">", ";>", "(", "$(", "{", "=", "[", "\x00", "é", "<<a ")


@pytest.mark.parametrize("unit", FLOODS)
def test_the_parser_is_given_only_what_it_can_read_fast(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """tree-sitter takes time and memory that grow with the square of misplaced operators."""
    given: list[bytes] = []

    def counted(source: bytes) -> object:
        given.append(source)
        return parse(source)

    monkeypatch.setattr(strict, "parse", counted)
    for size in (5_000, 9_000, 256_000):
        commands((unit * size)[:size])
    assert all(len(source) <= MAX_PARSED_BYTES for source in given)
    assert all(sum(map(source.count, (b";", b"|", b"&", b"<", b">", b"\n"))) <= MAX_OPERATORS for source in given)


def test_a_line_of_many_commands_is_read_without_recursion() -> None:
    found = commands(" && ".join(["a b"] * 100))
    assert found is not None
    assert len(found) == 100
    assert commands(" && ".join(["a b"] * 200)) is None
    assert commands("a " + "b" * MAX_PARSED_BYTES) is None
