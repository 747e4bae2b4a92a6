"""The time that leases are measured with where no server tells it: this machine's clock, checked against the file
system's, which is the server's where several machines share it."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

TOLERANCE = timedelta(minutes=5)


def machine_time() -> datetime:
    return datetime.now(UTC)


def file_time(path: Path) -> datetime | None:
    """The file system's time, found by touching a file; None where that is not permitted."""
    try:
        os.utime(path, follow_symlinks=False)
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except OSError:
        return None


def store_time(path: Path) -> datetime:
    """This machine's time, or that of the file system of `path` where the two disagree, with a warning."""
    own, theirs = machine_time(), file_time(path)
    if theirs is None or abs(own - theirs) <= TOLERANCE:
        return own
    import logging  # a command that only reads would spend a tenth of its time on it

    logging.getLogger("outlive.stores").warning(
        "the clock of this machine is %s the file system of %s; leases are measured with the file system's time",
        apart(own - theirs),
        path,
    )
    return theirs


def apart(difference: timedelta) -> str:
    """`400 days ahead of`, `20 minutes behind`"""
    size = abs(difference)
    amount, unit = (size.days, "day") if size.days else (size.seconds // 60, "minute")
    return f"{amount:,} {unit}{'' if amount == 1 else 's'} {'ahead of' if difference > timedelta(0) else 'behind'}"
