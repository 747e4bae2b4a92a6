"""The script of the demo's model, step by step. The tools and their results are real.

The model finds its place in each request from its own last words ("Step 12"), so it continues after a kill -9; after
an interrupted call it looks first.
"""

import re

from outlive.cli.demo.project import MONTHS, PYTHON, TESTS
from outlive.messages import ToolResult, plain_text
from outlive.request import Request
from outlive.testing import call, calls, say
from outlive.testing.simulator import Step

RULES = (
    "Never touch anything under vendor/.",
    "Always run the tests after you change code.",
    "From now on write amounts in cents, never as floats.",
)
ASKED = "Make the ledger accept negative amounts and thousands separators, and say what each month comes to."
PROMPT = f"{ASKED} {' '.join(RULES)}"
TASKS = ("Accept 1,234.50 and -3.25", "Total every month", "Write the manual", "Release")
KILLED_AT = 16
"""The process is killed during the command of this step."""
CHECKS = "tests/test_ledger"
_STEP = re.compile(r"^Step (\d+):", re.MULTILINE)

NEW_PARSE = """    text = text.strip().replace(SEPARATOR, "")
    sign = -1 if text.startswith("-") else 1
    whole, _, cents = text.lstrip("-").partition(".")
    return sign * (int(whole) * 100 + int(cents or 0))
"""
OLD_PARSE = """    whole, _, cents = text.strip().partition(".")
    return int(whole) * 100 + int(cents or 0)
"""
OLD_SHOW = '    return f"{cents // 100}.{cents % 100:02d}"\n'
NEW_SHOW = '    sign = "-" if cents < 0 else ""\n    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"\n'
THOUGHTS = "The rows use two notations, and both have to be read the same way. " * 40


def _total(month: str) -> str:
    code = f"from ledger.report import *; print('{month}', show(total(open('data/{month}.csv'))))"
    return f'{PYTHON} -c "{code}" | tee -a totals.txt'


def _noise(lines: int) -> str:
    code = f"for n in range({lines}): print(f'trace {{n:05d}} ledger.parse row={{n * 7919 % 120}} ok')"
    return f'{PYTHON} -c "{code}"'


def _steps() -> list[tuple[str, list[Step]]]:
    depends = {2: [1], 3: [2], 4: [2, 3]}
    largest = "sort -t ';' -k 3 -r data/{}.csv"
    creations = [
        call("task_create", subject=subject, addBlockedBy=depends.get(number, []))
        for number, subject in enumerate(TASKS, 1)
    ]
    plan = call("update_plan", goal="The ledger reads every notation", steps=["look", "fix", "total", "document"])
    steps: list[tuple[str, list[Step]]] = [
        ("A plan, and tasks that outlive this session.", [plan, *creations]),
        ("What is there?", [call("glob", pattern="**/*.py"), call("read_file", path="ledger/parse.py")]),
        ("The rest of the code.", [call("read_file", path=f"{name}.py") for name in ("ledger/report", CHECKS)]),
        ("Which limits does the vendor have? I only look.", [call("read_file", path="vendor/rates.py")]),
        ("What fails today?", [call("bash", command=TESTS)]),
        (f"Which notations occur? {THOUGHTS}", [call("read_file", path="data/january.csv")]),
        *[(f"And in {month}?", [call("read_file", path=f"data/{month}.csv")]) for month in MONTHS[1:4]],
        ("A trace of a whole run, to be sure.", [call("bash", command=_noise(3000))]),
        ("Who uses the separator?", [call("grep", pattern="SEPARATOR")]),
        ("Read every notation.", [call("edit_file", path="ledger/parse.py", old_text=OLD_PARSE, new_text=NEW_PARSE)]),
        ("The rule says: run the tests.", [call("bash", command=TESTS)]),
        ("One is left: how negative totals are shown.", [call("read_file", path="ledger/report.py")]),
        ("Show the sign.", [call("edit_file", path="ledger/report.py", old_text=OLD_SHOW, new_text=NEW_SHOW)]),
        ("Tests again, and the total of January.", [call("bash", command=f"{TESTS}; sleep 1; {_total('january')}")]),
        ("The first task is done.", [call("task_complete", task_id=1, result="both notations parsed")]),
        *[(f"Total of {month}.", [call("bash", command=_total(month))]) for month in MONTHS[1:]],
        *[(f"Do the rows of {month} agree?", [call("read_file", path=f"data/{month}.csv")]) for month in MONTHS[3:]],
        ("A lot of rows; keep what matters for the totals.", [call("compact", focus="totals of the months")]),
        ("A last look at the trace.", [call("bash", command=_noise(400))]),
        *[(f"The largest rows of {month}?", [call("bash", command=largest.format(month))]) for month in MONTHS],
        ("What did the vendor's file say? That was long ago.", [call("recall", query="RATE_LIMIT_PER_HOUR")]),
        ("Write it down.", [call("write_file", path="MANUAL.md", content="# Ledger\n\nReads 1,234.50 and -3.25.\n")]),
        ("All tests once more.", [call("bash", command=TESTS)]),
        ("The second task is done.", [call("task_complete", task_id=2, result="totals.txt")]),
    ]
    return steps


STEPS = _steps()
REFUSED_AT = next(number for number, (words, _) in enumerate(STEPS, 1) if "rows of may?" in words)
"""Before this step the provider refuses the request as too long, and the smaller one after a pass too."""
LAST = "Both notations are read, all tests pass, the totals are in totals.txt. Manual and release are still open."


SUMMARY = f"""Asked: {ASKED}
Decided: one parser for both notations; amounts stay whole cents.
Changed: ledger/parse.py, ledger/report.py
Verified: all tests pass after the change of ledger/report.py
Open: totals of the later months, the manual, the release
Next: go on with the totals"""


def answer(request: Request) -> Step:
    """Choose the next step from the request alone."""
    if not request.tools:
        return say('{"memories": []}')  # the harness asks what is worth remembering
    if "write a summary of this session" in plain_text(request.messages[-1].blocks):
        return say(SUMMARY)
    answers = [plain_text(message.blocks) for message in request.messages if message.role == "assistant"]
    number = max((int(found) for text in answers for found in _STEP.findall(text)), default=0)
    results = [block for block in request.messages[-1].blocks if isinstance(block, ToolResult)]
    if any("look before doing it again" in result.text for result in results):
        look = call("bash", command="cat totals.txt 2>/dev/null || echo 'no totals yet'")
        return say(f"Step {number}: that was interrupted. Look before doing it again.") + look
    if number == KILLED_AT and any("no totals yet" in result.text for result in results):
        number -= 1
    if number == len(STEPS):
        return say(LAST)
    words, made = STEPS[number]
    return say(f"Step {number + 1}: {words}") + calls(*made)
