"""The small project of the demo: a ledger with a bug, a folder that must not be touched, and data to read."""

import sys
from pathlib import Path
from shlex import quote

PYTHON = quote(sys.executable)
TESTS = f"{PYTHON} -m unittest -v"
MONTHS = ("january", "february", "march", "april", "may", "june")

PARSE = '''"""Amounts as people write them."""

SEPARATOR = ","


def parse_amount(text):
    """Cents of an amount such as 12.50."""
    whole, _, cents = text.strip().partition(".")
    return int(whole) * 100 + int(cents or 0)
'''

REPORT = '''"""Totals of a month."""

from ledger.parse import parse_amount


def total(rows):
    return sum(parse_amount(row.split(";")[2]) for row in rows if row.strip())


def show(cents):
    return f"{cents // 100}.{cents % 100:02d}"
'''

TEST = """import unittest

from ledger.parse import parse_amount
from ledger.report import show, total


class Amounts(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(parse_amount("12.50"), 1250)

    def test_thousands(self):
        self.assertEqual(parse_amount("1,234.50"), 123450)

    def test_negative(self):
        self.assertEqual(parse_amount("-3.25"), -325)


class Totals(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(["1;rent;-3.25", "2;sale;10.00"]), 675)

    def test_show_negative(self):
        self.assertEqual(show(-325), "-3.25")
"""

VENDOR = '"""Somebody else\'s code."""\n\nRATE_LIMIT_PER_HOUR = 4711\n'


def lay_out(folder: Path) -> None:
    files = {
        "ledger/__init__.py": "",
        "ledger/parse.py": PARSE,
        "ledger/report.py": REPORT,
        "tests/__init__.py": "",
        "tests/test_ledger.py": TEST,
        "vendor/rates.py": VENDOR,
    }
    for number, month in enumerate(MONTHS, 1):
        rows = (f"{day};{_kind(day, number)};{_amount(day, number)}" for day in range(1, 261))
        files[f"data/{month}.csv"] = "\n".join(rows) + "\n"
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _kind(day: int, month: int) -> str:
    return ("rent", "sale", "refund", "postage", "salary")[(day * 7 + month) % 5] + f"-{month}{day:03d}"


def _amount(day: int, month: int) -> str:
    cents = (day * 7919 + month * 104729) % 250_000
    sign = "-" if day % 4 == 0 else ""
    return f"{sign}{cents // 100:,}.{cents % 100:02d}"
