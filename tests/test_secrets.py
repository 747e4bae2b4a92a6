"""Secrets are found, named by their kind and masked; what is merely long is left alone."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.secrets import SecretFound, find, mask, refuse
from tests import secret_lines
from tests.secret_forms import NOT_KEYS, SHAPES, example

# Put together at run time, so that no scanner takes this file for a leak.
SECRETS = [
    ("Anthropic API key", "sk-" + "ant-api03-" + "aB3x" * 12),
    ("OpenAI API key", "sk-" + "proj-" + "Ab9_" * 10),
    ("OpenAI API key", "sk-" + "abcdEFGH1234" * 4),
    ("GitHub token", "gh" + "p_" + "a1B2" * 9),
    ("GitHub token", "github" + "_pat_" + "11ABCDEFG0abcdefghijkl_mnop"),
    ("AWS access key", "AKIA" + "IOSFODNN7REALKEY"[:16]),
    ("Slack token", "xoxb-" + "1234567890-abcdefghij"),
    ("JSON web token", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + "SflKxwRJSMeKKF2QT4"),
    ("Google API key", "AIza" + "SyA1" * 8 + "abc"),
    ("Hugging Face token", "hf_" + "abcdEFGH12" * 4),
    ("Stripe key", "sk_" + "live_" + "a1B2c3D4" * 3),
    ("SendGrid API Key", "SG." + "a1" * 11 + "." + "b" * 43),
    ("private key", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEabc\ndef\n-----END RSA " + "PRIVATE KEY-----"),
    ("private key", "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXk"),
]
ASSIGNED = [
    "password=hunter2",
    "password: Tr0ub4dor&3",
    "the password is Tr0ub4dor3x, do not tell",
    "DB_PASSWORD='s3cr3t!!'",
    '{"api_key": "abcdef123456"}',
    "api_key = 0123456789abcdef0123456789abcdef",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY",
    "token: 550e8400-e29b-41d4-a716-446655440000",
    "client_secret=abcDEF123456ghi",
    "Authorization: Bearer abcd1234efgh5678ijkl",
    "postgresql://joe:s3cret@host/db",
    "git clone https://joe:ghx9s8d7f6@example.org/repo.git",
]
HARMLESS = [
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 401660c9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5 broke it",
    "d41d8cd98f00b204e9800998ecf8427e",
    "550e8400-e29b-41d4-a716-446655440000",
    "/usr/local/lib/python3.11/site-packages/foo_bar/baz.py:120",
    "https://github.com/yelp/detect-secrets/blob/v1.5.0/README.md#usage",
    "20300101-120000-3fa9c1d2e4b5",
    "the password is stored in the vault",
    "the secret is to stay calm",
    "password: see 1Password",
    "password=$DB_PASSWORD",
    "token = os.environ['TOKEN']",
    "secret: <your secret here>",
    "api_key: ${API_KEY}",
    "The token budget is 8000 tokens; max_tokens=4096",
    "token_count: 123456",
    "The API key is rotated every 90 days by ops-team-2",
    "password reset flow lives in src/auth/reset_password.py",
    "Bearer tokens are sent in the header",
    "postgresql://USER:***@HOST/DB",
    "sk-learn is scikit-learn; sk-something-like-this-name",
    "pass: 12 tests, fail: 3",
    "e2e/cli/test_token_gitlab:19:mkdir -p x",
    "user@example.com, my-branch-name-2024-01-02-fix-everything",
]


def pieces(secret: str, text: str, length: int = 8) -> list[str]:
    """What a text gives away of a secret, in pieces that long."""
    return [secret[at : at + length] for at in range(len(secret) - length + 1) if secret[at : at + length] in text]


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=[f"{kind} {n}" for n, (kind, _) in enumerate(SECRETS)])
@pytest.mark.parametrize("around", ["{}", "it is {}, keep it", "line one\nkey: {}\nline three", "“{}”"])
def test_a_key_is_found_named_and_masked(kind: str, secret: str, around: str) -> None:
    text = around.format(secret)
    assert kind.lower() in {found.kind.lower() for found in find(text)} or "key:" in text
    shown = mask(text)
    assert secret not in shown
    assert "[masked " in shown
    assert shown.startswith(around.partition("{}")[0])
    with pytest.raises(SecretFound) as refused:
        refuse(text, "the note")
    assert secret not in str(refused.value)
    assert "the note" in str(refused.value)


@pytest.mark.parametrize("text", ASSIGNED)
def test_what_is_called_a_password_is_one(text: str) -> None:
    (found,) = find(text)
    value = text[found.start : found.end]
    assert value not in mask(text)
    assert len(value) >= 6


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_merely_long_is_left_alone(text: str) -> None:
    assert find(text) == []
    assert mask(text) == text
    refuse(text, "the note")


@pytest.mark.parametrize("text", secret_lines.LEAKS)
def test_a_line_that_gives_a_secret_away_is_refused_and_masked(text: str) -> None:
    with pytest.raises(SecretFound):
        refuse(text, "the note")
    for found in find(text):
        assert text[found.start : found.end] not in mask(text)


@pytest.mark.parametrize("text", secret_lines.HARMLESS)
def test_a_line_that_speaks_of_secrets_is_left_alone(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("text", [secret for _, secret in SECRETS] + ASSIGNED + list(secret_lines.LEAKS))
def test_masking_twice_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)
    assert find(mask(text)) == []


KNOWN_TO_DETECT_SECRETS = {
    "AWSKeyDetector": "A3TA" + "IOSFODNN7REALKEY"[:16],
    "AzureStorageKeyDetector": "AccountKey=" + "lJzRc1YdHaAA2KCNJJ1tkYwF+" * 3 + "abcdefghijk==",
    "DiscordBotTokenDetector": "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "GitHubTokenDetector": "gho_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx",
    "GitLabTokenDetector": "glpat-" + "hellOworld380_testin",
    "JwtTokenDetector": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + "SflKxwRJSMeKKF2QT4",
    "MailchimpDetector": "343ea45721923ed956e2b38c31db76aa" + "-us30",
    "NpmDetector": "//npm.example/:_authToken=" + "743b294a-cd03-11ec-9d64-0242ac120002",
    "OpenAIDetector": "sk-" + "Xi8tcNiHV9awbCcvilTeT3BlbkFJ3UDnpdEwNNm6wVBpYM0o",
    "PrivateKeyDetector": "PuTTY-User-Key-File-2: ssh-rsa",
    "PypiTokenDetector": "pypi-AgEIcHlwaS5vcmc" + "x1Y2" * 20,
    "SendGridDetector": "SG." + "ngeVfQFYQlKU0ufo8x5d1A" + "." + "TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr",
    "SlackDetector": "https://hooks.slack.com/services/" + "T0a1b2c3d/B0a1b2c3d/abcDEF123ghiJKL456mnoPQR",
    "SquareOAuthDetector": "sq0csp-" + "ABCDEFGHIJK_LMNOPQRSTUVWXYZ-0123456789\\abcd",
    "StripeDetector": "rk_live_" + "5TcWfjKmJgpql9hjpRnwRXbT",
    "TelegramBotTokenDetector": "110201543:" + "AAHdqTcvCH1vGWJxfSe1ofSAs0K5PALDsaw",
    "TwilioKeyDetector": "SK" + "123456789012345678901234567890ab",
}


@pytest.mark.parametrize("secret", KNOWN_TO_DETECT_SECRETS.values(), ids=KNOWN_TO_DETECT_SECRETS)
def test_what_another_detector_knows_is_found(secret: str) -> None:
    assert find(f"it was {secret} then")


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    found = find(text)
    assert all(0 <= secret.start < secret.end <= len(text) for secret in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("around", ["{}", "it is {}, keep it", 'x = ["{}"]', '{{"log": "one\\n{}\\ntwo"}}'])
def test_a_bare_key_is_found_whole(shape: str, around: str) -> None:
    for seed in range(3):
        key = example(shape, seed)
        masked = mask(around.format(key))
        left = "".join(masked.split("[masked ")[:1])
        assert "[masked " in masked, key
        assert not pieces(key, left + masked.rpartition("]")[2]), (key, masked)


def test_at_least_86_formats_are_known() -> None:
    assert len(SHAPES) >= 86
    assert all(find(example(shape)) for shape in SHAPES.values())


@pytest.mark.parametrize("shape", NOT_KEYS)
def test_hashes_pictures_and_lock_files_are_left_alone(shape: str) -> None:
    for seed in range(20):
        text = example(shape, seed)
        assert mask(text) == text
