"""The command line. `main` is the entry point; app.py holds the commands, quick.py answers the one asked most."""

GC_THRESHOLDS = (100_000, 20, 50)
"""Thresholds of the garbage collector. A session or ten thousand memories live until the process ends, and scanning
them again and again costs more than it frees."""


def main() -> None:
    import gc
    import sys

    from outlive.cli.output import guard
    from outlive.cli.quick import answer

    guard()
    answer(sys.argv[1:])
    gc.set_threshold(*GC_THRESHOLDS)

    from outlive.cli.app import run

    run()
