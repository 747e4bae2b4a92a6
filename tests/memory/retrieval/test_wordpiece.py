"""Token numbers are those of the `tokenizers` package, from which the expected ones were taken."""

import pytest

from outlive.memory.retrieval.dense.wordpiece import token_numbers

EXPECTED = {
    "": [],
    "hello world": [7592, 2088],
    "The quick-brown fox's café, naïve!": [1996, 4248, 1011, 2829, 4419, 1005, 1055, 7668, 1010, 15743, 999],
    "getUserName() in src/app_v2.py": [
        *(2131, 20330, 18442, 1006, 1007, 1999, 5034, 2278, 1013, 10439, 1035, 1058, 2475, 1012, 1052, 2100)
    ],
    "北京烤鸭 is good": [1781, 1755, 100, 100, 2003, 2204],
    "안녕하세요": [1463, 30006, 30021, 29992, 30010, 30025, 30005, 30006, 29997, 30009, 29999, 30013],
    "tab\there\x00\ufffd\nend": [21628, 2182, 2203],
    "x" * 101 + " ok": [100, 7929],
    "İstanbul ß ﬁ": [9960, 1096, 1984],
    "🙂 smile": [100, 2868],
    "supercalifragilisticexpialidocious": [3565, 9289, 10128, 29181, 24411, 4588, 10288, 19312, 21273, 10085, 6313],
}


@pytest.mark.parametrize("text", EXPECTED)
def test_text_becomes_the_tokens_the_model_was_trained_on(text: str) -> None:
    assert token_numbers(text, 100) == [101, *EXPECTED[text], 102]


def test_of_a_long_text_the_beginning_and_the_end_are_taken() -> None:
    text = "hello " + "filler " * 100_000 + "world"
    assert token_numbers(text, 1) == [101, 7592, 102]
    assert token_numbers(text, 1, 1) == [101, 7592, 2088, 102]
    assert token_numbers("hello cruel world", 1, 1) == [101, 7592, 2088, 102]
    assert len(token_numbers("hello " * 300, 126)) == 128
