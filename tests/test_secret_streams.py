"""A text that arrives in pieces is masked as it would be in one, and the time it takes grows with its length only."""

import itertools
import random
import re
from collections.abc import Callable
from re import _parser as sre_parser  # type: ignore[attr-defined]  # the form of a pattern, as Python reads it
from typing import Any

import pytest
from hypothesis import example as with_example
from hypothesis import given
from hypothesis import strategies as st

from outlive.secrets import Masker, finding, forms, mask, mask_value, shown
from outlive.secrets.scanning import MAX_HELD_LINE_CHARS
from tests.secret_forms import SHAPES, example
from tests.test_secrets import pieces


def private_key(lines: int = 12, label: str = "RSA PRIVATE KEY") -> str:
    """A made-up one: a first line, encoded lines, a short one, a last line."""
    body = "\n".join(example("{B64}", seed) for seed in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n{example('{B30}', 99)}==\n-----END {label}-----"


PUTTY = (
    "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: mine\nPublic-Lines: 2\n"
    f"{example('{B64}', 1)}\n{example('{B20}', 2)}\nPrivate-Lines: 3\n{example('{B64}', 3)}\n{example('{B64}', 4)}\n"
    f"{example('{B12}', 5)}==\nPrivate-MAC: {example('{H64}', 6)}"
)
SECRETS = {
    **{
        name: example(SHAPES[name])
        for name in ("Anthropic", "AWS access", "Azure storage", "Telegram", "JSON web token")
    },
    "private key": private_key(),
    "PGP key": private_key(3, "PGP PRIVATE KEY BLOCK"),
    "PuTTY key": PUTTY,
    "end of a private key": private_key().partition("\n")[2],
}
SAID = (
    "password=Tr0ub4dor&3x",
    "the password for the box is Tr0ub4dor&3x",
    "curl -u me:Tr0ub4dor&3x https://x.org",
    "password:\n  Tr0ub4dor&3x",
)
ENVIRONMENT = {"DEPLOY_TOKEN": "correct horse battery", "TLS_KEY": "first line of it\nsecond line of it"}
WORDS = st.sampled_from(
    (
        "\n",
        "\r\n",
        " ",
        "x",
        "error: ",
        "a1b2c3 ",
        "key",
        "password",
        ": ",
        "=",
        '"',
        "\\n",
        "-----",
        "BEGIN",
        "é€",
        "eyJ",
        "sk-",
    )
)


def in_pieces(text: str, cuts: list[int], masker: Masker = mask) -> str:
    stream = masker.stream()
    ends = sorted({cut % (len(text) + 1) for cut in cuts})
    parts = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return "".join(map(stream.feed, parts)) + stream.finish()


@given(
    before=st.lists(WORDS, max_size=12).map("".join),
    secret=st.sampled_from([*SECRETS.values(), *SAID]),
    after=st.lists(WORDS, max_size=12).map("".join),
    cuts=st.lists(st.integers(0, 2000), max_size=8),
)
def test_pieces_of_any_size_are_masked_as_the_whole_is(before: str, secret: str, after: str, cuts: list[int]) -> None:
    text = f"{before} {secret}\n{after}"
    assert in_pieces(text, cuts) == mask(text)


@given(secret=st.sampled_from(list(SECRETS.values())), cuts=st.lists(st.integers(0, 2000), max_size=8))
def test_no_piece_of_a_secret_gets_through(secret: str, cuts: list[int]) -> None:
    masked = in_pieces(f"it says\n{secret}\nand goes on", cuts)
    assert not pieces(secret.replace("PRIVATE KEY", "").replace("private key", ""), masked)
    assert masked.startswith("it says\n[masked ")
    assert masked.endswith("]\nand goes on")


@given(st.text(), st.lists(st.integers(0, 100)))
@with_example("password:\r\nhunter22", [11])
@with_example("-----BEGIN PRIVATE KEY-----\rabcdefgh\r", [30])
def test_any_text_in_any_pieces(text: str, cuts: list[int]) -> None:
    assert in_pieces(text, cuts) == mask(text)


@given(st.lists(st.integers(0, 200), max_size=6))
def test_values_of_the_environment_are_masked_across_pieces(cuts: list[int]) -> None:
    text = "it is correct horse battery, and\nfirst line of it\nsecond line of it\nends"
    masked = "it is [DEPLOY_TOKEN], and\n[TLS_KEY]\n[TLS_KEY]\nends"
    assert in_pieces(text, cuts, Masker(ENVIRONMENT)) == masked == Masker(ENVIRONMENT)(text)


@given(st.lists(st.integers(0, 40), max_size=6))
def test_a_value_of_several_words_is_not_shown_word_by_word(cuts: list[int]) -> None:
    text = "it is correct horse battery, and so on"
    stream = Masker(ENVIRONMENT).stream()
    places = [0, *sorted(cuts), len(text)]
    parts = [stream.feed(text[a:b]) + stream.release() for a, b in itertools.pairwise(places)]
    assert "".join(parts) + stream.finish() == "it is [DEPLOY_TOKEN], and so on"


@pytest.mark.parametrize("size", [4096, 65_536, 100_000, 10_000_000])
@pytest.mark.parametrize("name", [name for name, secret in SECRETS.items() if "\n" not in secret])
def test_a_secret_in_a_line_without_end_is_masked(name: str, size: int) -> None:
    """Longer than is waited for: what is settled goes out, and nothing is cut where a secret is."""
    chosen = random.Random(size)
    filler = "some words, " * (MAX_HELD_LINE_CHARS // 5)
    for _ in range(3):
        at = chosen.randrange(len(filler) // 12) * 12
        text = f"{filler[:at]}{SECRETS[name]} {filler[at:]}"
        stream = mask.stream()
        masked = "".join(stream.feed(text[n : n + size]) for n in range(0, len(text), size)) + stream.finish()
        assert masked == mask(text)
        assert SECRETS[name] not in masked


def test_a_line_goes_out_when_it_ends_and_not_before() -> None:
    stream = mask.stream()
    assert stream.feed("one\ntw") == "one\n"
    assert stream.feed("o 50%\r") == "two 50%\r"
    assert stream.feed("three") == ""
    assert stream.finish() == "three"


def test_a_key_that_is_only_spoken_of_does_not_hide_the_rest() -> None:
    code = 'if text.startswith("-----BEGIN PRIVATE KEY-----"):\n' + "    return load(text, password)\n" * 8
    masked = mask(code)
    assert masked.count("return load(text, password)") == 8


def test_a_key_among_other_output_is_hidden_line_by_line() -> None:
    rows = private_key().split("\n")
    mixed = "\n".join(f"{row}\nmake: still at work here" if n % 3 == 1 else row for n, row in enumerate(rows))
    masked = mask(mixed)
    assert not [row for row in rows if row in masked]
    assert masked.count("make: still at work here") == mixed.count("make: still at work here")


@pytest.mark.parametrize("prefix", ["{n}:", "  {n}\t", "+", "> ", "2026-11-16 10:00:00 INFO ", "    "])
def test_a_key_with_something_before_each_line_is_hidden(prefix: str) -> None:
    rows = [prefix.format(n=n) + row for n, row in enumerate(private_key().split("\n"))]
    masked = mask("\n".join(rows))
    assert not pieces(private_key().replace("PRIVATE KEY", ""), masked, 12)


@pytest.mark.parametrize("before", ["key: ", 'TLS_KEY="', "export A=1 KEY=", "{"])
def test_a_key_that_begins_behind_other_words_is_hidden_to_its_end(before: str) -> None:
    assert mask(f"{before}{private_key()}\nafter it") == f"{before}[masked private key]\nafter it"


def test_encoded_lines_are_held_back_until_it_is_known_what_they_end_with() -> None:
    rows = private_key().split("\n")[5:]
    stream = mask.stream()
    assert stream.feed("\n".join(rows[:-1]) + "\n") == stream.release() == ""
    assert stream.feed(rows[-1] + "\n") + stream.finish() == "[masked private key]\n"


def test_the_lines_before_the_end_of_a_key_are_hidden_though_its_beginning_is_missing() -> None:
    rows = private_key().split("\n")
    masked = mask("\n".join(["ls", "some words here", *rows[5:], "done"]))
    assert masked == "ls\nsome words here\n[masked private key]\ndone"


def test_a_text_from_the_middle_of_a_key_is_hidden_where_the_reader_knows_it() -> None:
    rows = private_key().split("\n")[2:8]
    assert mask("\n".join(rows)) != "[masked private key]"
    assert shown("\n".join(rows), mask.find("\n".join(rows), inside=True)) == "[masked private key]"


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_part_shows_nothing_of_a_secret_that_it_cuts(start: int, end: int) -> None:
    key = SECRETS["Anthropic"]
    text = f"{'before ' * 20}{key}{' after' * 20}"
    assert not pieces(key, shown(text, mask.find(text), min(start, end), max(start, end)))


@given(
    st.dictionaries(
        st.sampled_from([SECRETS["Anthropic"], SECRETS["AWS access"], "a", "password"]), st.just("Tr0ub4dor3x")
    )
)
def test_keys_of_objects_are_masked_and_none_is_lost(value: dict[str, str]) -> None:
    masked = mask_value({"deep": [value]})["deep"][0]
    assert len(masked) == len(value)
    assert not [secret for secret in SECRETS.values() if secret in str(masked)]
    assert masked.get("password", "") in ("", "[masked password or key]")


def test_two_keys_that_look_alike_when_masked_are_kept_apart() -> None:
    made = {example("AKIA{U16}", 1): 1, example("AKIA{U16}", 2): 2}
    assert mask_value(made) == {"[masked AWS access key]": 1, "[masked AWS access key] 2": 2}


# -- the work that it takes

ADVERSARIAL = (
    *(
        "a=a=",
        "pw=",
        "password=",
        "pw ",
        "pw of a a a a a ",
        "token_a",
        "api_key ",
        "secret.a",
        "token:",
        "pass",
        "key-",
    ),
    *(
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\n",
        "Private-MAC",
    ),
    *(
        "eyJ.",
        "eyJ-",
        "eyJaaaaaaaa.",
        "eyJaaaaaaaa.eyJaaaaaaaa.",
        "sk-",
        "sk-ant-",
        "AKIA",
        "AKIA-",
        "ghp_ ",
        "xoxb-",
        "SG.a",
        "MT.",
    ),
    *(
        "://:@",
        "://",
        "x://a:",
        "x://a:b",
        "@",
        '"',
        "'",
        'pw="',
        "pw='aaaaaa(((",
        "pw=a(",
        'PASS="aaa aaa ',
        '"auth":"',
    ),
    *(
        "curl ",
        "curl -u a ",
        "mysql -p",
        "docker login -p",
        "login a ",
        "auth token ",
        "aaaaaaa is my ",
        "a1aaaaaa is my password ",
    ),
    *(
        "user a / ",
        "bearer ",
        "basic aaaaaaaaaaaaaaaaaaaaaa ",
        "aws",
        "aws_a ",
        "-us1",
        "12345678:AA",
        "Q~",
        "aaa8Q~",
        ".atlasv1.",
        "_mmk",
    ),
    *(
        "A",
        "0123456789abcdef",
        "AbCdEfGhIjKlMnOp0123456789+/",
        "\n",
        "\r",
        "\\n",
        '\\"',
        "pässwörd=",
        "pw=example",
        "\u0130pw=",
    ),
    *(
        "pw=a" + "(" * 900 + ")" * 900 + "\n",
        "secret: " + "a(b," * 500 + "\n",
        "[masked ",
        "AZDO",
        "+ASt",
        "sig=",
        "hooks.slack.com/services/",
    ),
)


class Counted:
    """How often a pattern is tried, and how many characters were matched; what fails is bounded by its form."""

    def __init__(self) -> None:
        self.tries = self.matched = 0

    def __call__(self, attempt: Callable[..., re.Match[str] | None], text: str, *where: int) -> re.Match[str] | None:
        self.tries += 1
        found = attempt(text, *where)
        self.matched += found.end() - where[0] if found else 0
        return found


@pytest.mark.parametrize("unit", ADVERSARIAL, ids=[repr(unit[:24]) for unit in ADVERSARIAL])
def test_eight_times_the_text_is_eight_times_the_work(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(size: int) -> Counted:
        counted = Counted()
        monkeypatch.setattr(finding, "_tried", counted)
        mask.find((unit * (size // len(unit) + 1))[:size])
        return counted

    size = 256 * 1024
    small, large = work(size // 8), work(size)
    assert large.tries <= 8.2 * small.tries + 100
    assert large.matched <= 8.2 * small.matched + 10_000
    assert large.tries <= 2 * size


def test_every_pattern_fails_after_a_bounded_number_of_characters() -> None:
    """No repeat without a bound comes before anything else that has to match, and none is within another."""
    _, groups = forms.beginnings()
    rests = [form.rest for group in groups.values() for form in group] + [form.rest for form in forms.marked()]
    words = [forms.URL, forms.AWS, forms.TOKEN, forms.ASSIGNED, forms.PHRASE, forms.AUTH]
    words += [pattern for rule in forms.SPOKEN for pattern in (rule.after,)]
    for pattern in {pattern.pattern for pattern in [*rests, *words]}:
        assert unbounded_repeats(list(sre_parser.parse(pattern))) == [], pattern


def unbounded_repeats(parts: list[Any], last: bool = True) -> list[Any]:
    """Repeats without a bound that are followed by something which could send the matcher back into them."""
    found: list[Any] = []
    for number, (kind, argument) in enumerate(parts):
        rest = parts[number + 1 :]
        ends = last and all(str(following[0]) in ("ASSERT_NOT", "AT") or _optional(following) for following in rest)
        match str(kind):
            case "MAX_REPEAT" | "MIN_REPEAT":
                if argument[1] > 5_000 and not ends:
                    found.append(kind)
                found += unbounded_repeats(list(argument[2]), last=ends and argument[1] <= 5_000)
            case "SUBPATTERN":
                found += unbounded_repeats(list(argument[3]), last=ends)
            case "BRANCH":
                for branch in argument[1]:
                    found += unbounded_repeats(list(branch), last=ends)
    return found


def _optional(part: Any) -> bool:
    return str(part[0]) in ("MAX_REPEAT", "MIN_REPEAT") and part[1][0] == 0
