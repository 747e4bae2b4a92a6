"""The clock that leases are measured with if there is no database server: this machine's clock, checked against the
file system's, which several machines may share."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

CLOCK_TOLERANCE = timedelta(minutes=5)


def machine_time() -> datetime:
    return datetime.now(UTC)


def file_time(path: Path) -> datetime | None:
    """The file system's time, read by touching a file; None if that is not permitted."""
    try:
        os.utime(path, follow_symlinks=False)
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except OSError:
        return None


def store_time(path: Path) -> datetime:
    """This machine's time; or that of the file system of `path` if the two disagree, with a warning."""
    own, theirs = machine_time(), file_time(path)
    if theirs is None or abs(own - theirs) <= CLOCK_TOLERANCE:
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
