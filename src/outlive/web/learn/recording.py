"""The recorded session of the second lesson: an agent looks for a bug in a small web shop. Made up, always the same.

The to-do list stands in the agent's own words; the same six items are tasks on disk. Calls of task tools are carried
out on the real graph when the recording is played, so they have no text here.
"""

from collections.abc import Iterator

from msgspec import Struct

ASKED = "Some customers are charged twice for one order. Find out why, fix it, and write down what happened."
RULE = "Never touch anything under vendor/."
LATER_WORDS = "By the way: refunds above 500 need a second signature."
TODO = (
    "Find where a card is charged",
    "Find out when a charge is retried",
    "Read the log of the night it happened",
    "Give every order an idempotency key",
    "Test that a retry charges once",
    "Write the report for the team",
)
DONE = (1, 2, 3)
"""Items that the agent finishes, counted from 1."""
NEEDS = {4: (1, 2), 5: (4,), 6: (3, 5)}
DETAIL = "RETRY_AFTER_SECONDS = 47"
DECISION = "Decision: the order number becomes the idempotency key, because it never changes."
ALOUD = " ".join(
    f"If caller {number} sends the charge again while the first one is under way, the gateway sees two charges."
    for number in range(1, 45)
)
LOG_LINE = "02:14:07 charge order=7719 attempt=2 amount=89.90 gateway=timeout card charged"
SYSTEM = "You are a careful engineer. Work step by step with the tools that you have."
EARLY_FILE = "shop/payments/retry.py"
LARGE_FILE = "logs/night.log"


class RecordedCall(Struct, frozen=True):
    """A tool call of the recording and what came back. A task tool is really called, so it has no result here."""

    tool: str
    input: dict[str, object]
    result: str = ""


class Turn(Struct, frozen=True):
    """Words of the user, or an answer of the agent with its calls."""

    words: str
    calls: tuple[RecordedCall, ...] = ()
    by_user: bool = False


def _read(path: str, text: str) -> RecordedCall:
    return RecordedCall("read_file", {"path": path}, text)


def _source(name: str, lines: int = 100, extra: str = "") -> str:
    """A source file: numbered lines, as a tool for reading files shows them."""
    rows = [f'"""{name.capitalize()} of the shop."""', ""]
    for number in range(lines // 4):
        rows += [
            f"def {name}_{number}(order, session):",
            f'    """Step {number} of {name}; called by the checkout."""',
            f"    value = session.get('{name}_{number}', order.total * {number + 2})",
            f"    return audit('{name}', {number}, value)",
        ]
    if extra:
        rows.insert(len(rows) // 2, extra)
    return "\n".join(f"{number}\t{row}" for number, row in enumerate(rows, 1))


def _log(lines: int, seed: int = 0) -> str:
    rows = [
        f"{1 + n // 240:02d}:{n // 4 % 60:02d}:{n % 4 * 15 + 2:02d} charge order={7000 + (n * 37 + seed) % 997} "
        f"attempt=1 amount={(n * 71) % 200}.{n % 10}0 gateway=ok"
        for n in range(lines)
    ]
    rows[lines * 2 // 3] = LOG_LINE
    return "\n".join(rows)


def _tests(failed: int) -> str:
    rows = [f"tests/test_shop.py::test_part_{n:02d} PASSED" for n in range(40)]
    rows += [f"tests/test_retry.py::test_retry_{n} FAILED: charged twice" for n in range(failed)]
    return "\n".join([*rows, f"{failed} failed, {40} passed in 3.41s"])


def _todo(done: tuple[int, ...]) -> str:
    rows = [f"- [{'x' if number in done else ' '}] {text}" for number, text in enumerate(TODO, 1)]
    return "My to-do list:\n" + "\n".join(rows)


def _done(number: int) -> RecordedCall:
    return RecordedCall("task_complete", {"task_id": number})


def turns() -> Iterator[Turn]:
    """The session, from the first words to where the lesson begins."""
    yield Turn(f"{ASKED} {RULE}", by_user=True)
    made = tuple(
        RecordedCall("task_create", {"subject": text, "blockedBy": list(NEEDS.get(number, ()))})
        for number, text in enumerate(TODO, 1)
    )
    yield Turn(f"I make a plan first. {_todo(())}\nThe same items become tasks on disk.", made)
    yield Turn("Where is the money handled?", (_read("shop/payments/charge.py", _source("charge")),))
    yield Turn("That is the place. The first item is done.", (_done(1),))
    yield Turn("When is a charge sent again?", (_read(EARLY_FILE, _source("retry", extra=DETAIL)),))
    yield Turn(f"After 47 seconds, without asking. Two items are done.\n{_todo((1, 2))}", (_done(2),))
    for name in ("checkout", "basket", "orders"):
        yield Turn(f"Who calls it? I look at {name}.", (_read(f"shop/{name}.py", _source(name)),))
    yield Turn("Now the log of that night.", (_read(LARGE_FILE, _log(320)),))
    yield Turn(f"Order 7719 was charged by the retry. Three items are done.\n{_todo(DONE)}", (_done(3),))
    yield Turn(LATER_WORDS, by_user=True)
    yield Turn(f"Understood. {DECISION}", (_read("shop/keys.py", _source("keys")),))
    yield Turn(f"I think aloud. {ALOUD}", (_read("shop/locks.py", _source("locks")),))
    for name in ("gateway", "webhooks", "refunds", "invoices", "mail", "stock"):
        yield Turn(f"Does {name} use the key too?", (_read(f"shop/{name}.py", _source(name)),))
    yield Turn("What do the tests say now?", (RecordedCall("bash", {"command": "pytest"}, _tests(3)),))
    yield Turn("And the vendor's client? I only read it.", (_read("vendor/client.py", _source("client")),))
    for name in ("report", "export", "search", "users", "prices"):
        yield Turn(f"One more caller: {name}.", (_read(f"shop/{name}.py", _source(name)),))
    yield Turn("I am ready to change the code: item four is next.")
