"""The names of task files."""

from outlive.stores.tasks.records import MAX_ID

_MAX_ID_DIGITS = len(str(MAX_ID))


def task_name(number: int) -> str:
    return f"task_{number}.json"


def task_number(name: str) -> int | None:
    """12 for task_12.json. Other spellings of a number (012, ¹²) are not our files."""
    digits = name[5:-5]
    if name.startswith("task_") and name.endswith(".json") and digits.isascii() and digits.isdecimal():
        return int(digits) if digits[0] != "0" and len(digits) <= _MAX_ID_DIGITS else None
    return None


def archived_name(number: int) -> str:
    return f"archive/task_{number}.json"
